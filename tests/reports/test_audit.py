"""An audit can be read at any width, read aloud, and as JSON."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from grader.model.audit import AuditReport, Cell
from grader.reports.audit import audit_page
from grader.reports.blocks import render_terminal, render_text
from grader.reports.json import audit_to_json
from grader.reports.sheet import plain
from tests.reports.audits import FAULTY, LARGE, PROVED

DOCS = (Path(__file__).parents[2] / "docs" / "audit.md").read_text(encoding="utf-8")


def page(report: AuditReport, width: int) -> str:
    return "\n".join(map(plain, render_terminal(list(audit_page(report)), width)))


def test_a_page_says_what_was_found() -> None:
    text = page(FAULTY, 80)
    assert "FAULT   the check forward kills no variant" in text
    assert "trivial answer accepted: ones" in text
    assert re.search(r"^  pad-offset-kept .*!", text, re.MULTILINE)
    assert "2 problems: the question is not ready" in text
    assert "X stopped by a check that claims it, x stopped, - stopped before" in text
    assert re.search(r"^  border +4 +0$", text, re.MULTILINE)
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


def test_where_a_page_is_read_aloud_programs_are_told_in_words() -> None:
    first, second, third = (check.id for check in LARGE.checks[:3])
    cells = {**LARGE.programs[0].cells, second: Cell.VARIES, third: Cell.PASSES}
    odd = replace(LARGE.programs[0], cells=cells, claimed_by=(first, third), named_well=7)
    text = render_text(audit_page(replace(LARGE, programs=(odd, *LARGE.programs[1:]))))
    assert (
        f"misconception-number-0: stopped by a check that claims it: {first}; depends on the "
        f"seed: {second}; claimed, and not stopped: {third}; passes: "
    ) in text
    assert "; named 7 of 20\n" in text


def test_without_programs_there_is_no_picture() -> None:
    nothing = replace(FAULTY, programs=(), checks=(), trivial=(), problems=("it is broken",))
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
