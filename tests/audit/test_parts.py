"""In each part the reference passes and every check earns its place; ideas come in their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.audit.audit import audit
from grader.bank import load
from grader.model.audit import AuditReport
from tests.audit.audits import said

pytestmark = pytest.mark.usefixtures("one_zygote")

NAME = "mean-and-spread"
SPEC = (Path(__file__).parents[1] / "banks" / "parts" / "questions" / f"{NAME}.yaml").read_text(
    encoding="utf-8"
)


def audited(folder: Path, *edits: str) -> AuditReport:
    """Audit the question with each text of the pairs replaced by the next one."""
    text = SPEC
    for old, new in zip(edits[::2], edits[1::2], strict=True):
        assert text.count(old) == 1, f"{old!r} occurs {text.count(old)} times"
        text = text.replace(old, new)
    path = folder / f"{NAME}.yaml"
    path.write_text(text, encoding="utf-8")
    return audit(load([path], NAME), seeds=(1, 2))


def test_the_question_is_proved(tmp_path: Path) -> None:
    report = audited(tmp_path)
    assert (report.problems, report.remarks, report.notes) == ((), (), ())
    assert [row.name for row in report.programs if row.named_well < 2] == ["reference"] * 0
    kills = {
        row.name: [c for c, cell in row.cells.items() if cell == "kills"] for row in report.programs
    }
    assert kills == {
        "reference": [],
        "starter": ["mean"],
        "sums": ["mean"],
        "divides-by-nothing": ["nothing"],
        "doubles-in-place": ["alone"],
        "variance": ["spread"],
        "cancels": ["far"],
    }


def test_an_idea_passes_the_parts_before_its_own(tmp_path: Path) -> None:
    report = audited(tmp_path, "found = float(x.mean())", "found = float(x.mean()) + 1.0")
    assert report.problems == (
        "doubles-in-place is said to be killed by alone, but mean of part 1 stops it first on all "
        "2 seeds: an idea of part 2 passes the parts before, or claim mean",
        "the check alone kills no variant: it is idle, or a misconception is missing",
    )


def test_an_idea_may_be_claimed_by_later_parts_as_well(tmp_path: Path) -> None:
    both = audited(tmp_path, "killed_by: mean", "killed_by: [mean, spread]")
    assert both.problems == ()
    wrong = audited(tmp_path, "killed_by: mean", "killed_by: [mean, nothing]")
    assert wrong.problems == (
        "sums is said to be killed by nothing, which it passes, and mean of part 1 stops it on "
        "all 2 seeds: claim mean",
    )


def test_the_starter_fails_in_the_first_part(tmp_path: Path) -> None:
    right = "return total / len(x)"
    report = audited(tmp_path, "        return total\n", f"        {right}\n", "[sums]", "[]")
    assert "starter passes part 1 on all 2 seeds, in which it has to fail" in report.problems


def test_a_check_earns_its_place_among_those_who_get_there(tmp_path: Path) -> None:
    """Others do not pass it, and a grade stops all of them in the first part."""
    begin, end = SPEC.index("  variance:"), SPEC.index("code:\n  reference")
    report = audited(tmp_path, SPEC[begin:end], "")
    assert report.problems == tuple(
        f"the check {name} kills no variant: it is idle, or a misconception is missing"
        for name in ("spread", "far")
    )


def test_a_first_part_is_short(tmp_path: Path) -> None:
    prompt = "Our dashboard shows a mean that grows with the number of samples."
    clause = "contract: [m is the arithmetic mean of the entries of x.]"
    long = audited(
        tmp_path, prompt, prompt + " word" * 80, clause, f"contract: [{', '.join('abcdefg')}]"
    )
    first, second = said(long, "parts")
    assert "the prompt of part 1 has 98 words" in first
    assert "the contract of part 1 has 7 clauses" in second
    assert said(audited(tmp_path, prompt, prompt + " word" * 72), "parts") == []
