"""An audit can be read at any width, read aloud, and as JSON."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from grader.model.audit import AuditReport, AuditRow, CheckFacts, MatrixCell, Remark, TrivialAnswer
from grader.reports.audit import audit_page, audit_to_json
from grader.reports.blocks import render_terminal, render_text
from grader.reports.text_layout import without_styles

DOCS = (Path(__file__).parents[2] / "docs" / "audit.md").read_text(encoding="utf-8")
CELLS = dict(zip(".Xx? ", MatrixCell, strict=True))
MANY = tuple(f"check-number-{i}" for i in range(17))
FACTS = (
    CheckFacts("forward", "outputs", False, 0, 0),
    CheckFacts("routing", "outputs", False, 3, 3),
    CheckFacts("overlap", "outputs", False, 4, 1),
    CheckFacts("border", "outputs", False, 4, 0),
    CheckFacts("speed", "performance", True, 0, 0),
)


def row(
    name: str, cells: str, claimed: str = "", well: int = 3, checks: tuple[str, ...] = ()
) -> AuditRow:
    """One program by the marks of its cells; what is named is its idea."""
    idea = None if name in {"reference", "starter"} else name.split(" (")[0]
    names = checks or tuple(fact.id for fact in FACTS)
    return AuditRow(
        name, idea, {check: CELLS[mark] for check, mark in zip(names, cells, strict=True)},
        named=() if name == "reference" else (idea or "even-split",), named_well=well, seeds=3,
        claimed_by=(claimed,) if claimed else (),
        passing_seeds={"overlap": (1, 2)} if "?" in cells else {},
    )  # fmt: skip


FAULTY = AuditReport(
    question="maxpool",
    title="The backward that lost its winner",
    seeds=(0, 1, 2),
    seconds=7.9,
    checks=FACTS,
    programs=(
        row("reference", "....."),
        row("starter", ".Xxx "),
        row("even-split", ".Xxx ", "routing"),
        row("even-split (2)", ".Xxx ", "routing"),
        row("assign-overlap", "..X? ", "overlap"),
        row("pad-offset-kept", ".....", "border", 1),
    ),
    problems=(
        "the check forward kills no variant: it is idle, or a misconception is missing",
        "pad-offset-kept is said to be killed by border, which it passes on all 3 seeds",
    ),
    trivial=(TrivialAnswer("ones", "ones of the right form", MANY, accepted=True),),
)
PROVED = replace(
    FAULTY,
    programs=FAULTY.programs[:4],
    problems=(),
    remarks=(
        Remark("redundant", "overlap: no known wrong idea is stopped here first"),
        Remark("parts", "the contract of part 1 has 7 clauses"),
    ),
    notes=("speed was run on the reference only",),
    trivial=(TrivialAnswer("zeros", "zeros of the right form", (), accepted=False),),
)
LARGE = replace(
    PROVED,
    checks=tuple(CheckFacts(check, "outputs", False, 1, 1) for check in MANY),
    programs=tuple(
        row(
            f"misconception-number-{i}", "".join("X" if j == i % 17 else "." for j in range(17)),
            MANY[i % 17], 20, MANY,
        )
        for i in range(20)
    ),
)  # fmt: skip


def page(report: AuditReport, width: int) -> str:
    return "\n".join(map(without_styles, render_terminal(list(audit_page(report)), width)))


def test_the_page_shows_the_findings_of_the_audit() -> None:
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


def test_a_page_read_aloud_describes_each_program_in_a_sentence() -> None:
    first, second, third = (check.id for check in LARGE.checks[:3])
    cells = {**LARGE.programs[0].cells, second: MatrixCell.VARIES, third: MatrixCell.PASSES}
    odd = replace(LARGE.programs[0], cells=cells, claimed_by=(first, third), named_well=2)
    text = render_text(audit_page(replace(LARGE, programs=(odd, *LARGE.programs[1:]))))
    assert (
        f"misconception-number-0: stopped by a check that claims it: {first}; depends on the "
        f"seed: {second}; claimed, and not stopped: {third}; passes: "
    ) in text
    assert "; named 2 of 3\n" in text


def test_without_programs_no_matrix_is_drawn_and_control_characters_are_escaped() -> None:
    problems = ("it is broken", "\x1b[2Jgone")
    shown = page(replace(FAULTY, programs=(), checks=(), trivial=(), problems=problems), 80)
    assert "X stopped" not in shown
    assert "FAULT   it is broken" in shown
    assert "\x1b" not in shown


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
