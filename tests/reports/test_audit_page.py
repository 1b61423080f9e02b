"""An audit can be read at any width, with and without colour, and as JSON."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from grader.model.audit import AuditReport, Cell
from grader.reports.audit import render_audit
from grader.reports.json import audit_to_json
from tests.reports.audits import FAULTY, LARGE, PROVED
from tests.reports.conftest import shown

DOCS = (Path(__file__).parents[2] / "docs" / "audit.md").read_text(encoding="utf-8")


def page(report: AuditReport, width: int, *, colour: bool = False) -> str:
    return shown(render_audit(report, width=width), color=colour)


def test_a_page_says_what_was_found() -> None:
    text = page(FAULTY, 80)
    assert "FAULT   the check forward kills no variant" in text
    assert "trivial answer accepted: ones" in text
    assert re.search(r"^  pad-offset-kept .*!", text, re.MULTILINE)
    assert "2 problems: the question is not ready" in text
    coloured = page(FAULTY, 80, colour=True)
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == text
    assert "no check is idle; 2 remarks" in page(PROVED, 80)


@pytest.mark.parametrize("width", [80, 120])
def test_twenty_ideas_and_seventeen_checks_are_one_picture(width: int) -> None:
    text = page(LARGE, width).splitlines()
    labels = [line for line in text if re.search(r"check-number-\d+$", line)]
    assert len(labels) == 17
    for i, label in enumerate(labels):
        column = label.index("check-number")
        marks = [line for line in text if line.startswith(f"  misconception-number-{i} ")]
        assert [line[column] for line in marks] == ["X"]
    assert max(map(len, text)) <= width


@pytest.mark.parametrize("width", [40, 50, 60, 70])
@pytest.mark.parametrize("report", [PROVED, FAULTY, LARGE])
def test_no_line_is_wider_than_the_window(report: AuditReport, width: int) -> None:
    assert max(len(line.rstrip()) for line in page(report, width).splitlines()) <= width


def test_where_columns_have_no_room_programs_are_told_in_words() -> None:
    first, second, third = (check.id for check in LARGE.checks[:3])
    cells = {**LARGE.programs[0].cells, second: Cell.VARIES, third: Cell.PASSES}
    odd = replace(LARGE.programs[0], cells=cells, claimed_by=(first, third), named_well=7)
    text = " ".join(page(replace(LARGE, programs=(odd, *LARGE.programs[1:])), 50).split())
    assert (
        f"misconception-number-0 stopped by {first}; on some seeds by {second}; "
        f"not, as claimed, by {third}; named 7 of 20"
    ) in text
    assert f"misconception-number-1 stopped by {second}; named 20 of 20" in text


def test_without_programs_there_is_no_picture() -> None:
    nothing = replace(
        FAULTY, programs=(), checks=(), twins=(), trivial=(), problems=("it is broken",)
    )
    assert "X stopped" not in page(nothing, 80)
    assert "FAULT   it is broken" in page(nothing, 80)


def test_control_characters_of_a_question_do_nothing() -> None:
    evil = replace(PROVED, problems=("\x1b[2Jgone",))
    assert "\x1b" not in page(evil, 80)


@pytest.mark.parametrize("report", [PROVED, FAULTY, LARGE])
def test_json_is_json_and_every_field_of_it_is_documented(report: AuditReport) -> None:
    data = json.loads(json.dumps(audit_to_json(report), allow_nan=False))
    assert data["ok"] is report.ok

    def fields(value: object) -> set[str]:
        if isinstance(value, dict):
            # Checks' ids are keys here, not fields.
            inner = {k: v for k, v in value.items() if k not in {"cells", "passing_seeds"}}
            return set(value) | {f for v in inner.values() for f in fields(v)}
        if isinstance(value, list):
            return {f for v in value for f in fields(v)}
        return set()

    assert {f for f in fields(data) if f"`{f}`" not in DOCS} == set()
