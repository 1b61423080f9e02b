"""What is shown of a drawn case is made smaller where the check still fails."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from grader import bank
from grader.evaluation.evaluation import Evaluation
from grader.explain.shrink import made_readable
from grader.model.report import CheckResult, Grids
from grader.session import GradingSession
from grader.session.checking import run_checks

pytestmark = pytest.mark.usefixtures("one_zygote")

QUESTION = bank.load([Path(__file__).parents[1] / "banks" / "mini"], "deviations")
# Right for the written-out case, so that a drawn one of three rows and four columns is shown.
LATER_ROWS = """
_right = centre
def centre(x, w):
    y, ctx = _right(x, w)
    y[1:] *= 2
    return y, ctx
"""
LATER_COLUMNS = LATER_ROWS.replace("y[1:] *= 2", "y[:, 2:] += 1")


@pytest.fixture(scope="module")
def session() -> Iterator[GradingSession]:
    with GradingSession(QUESTION) as opened:
        yield opened


def checked(session: GradingSession, over: str) -> tuple[Evaluation, CheckResult]:
    """The evaluation of a submission, and its result of the first check."""
    source = f"{QUESTION.reference.decode()}\n{over}".encode()
    evaluation = session.examine("submission", [source], 5)
    with np.errstate(all="ignore"):
        return evaluation, run_checks(evaluation)[0]


def smaller(evaluation: Evaluation, result: CheckResult) -> CheckResult:
    return made_readable(evaluation, (result,))[0]


@pytest.mark.parametrize(("over", "shape"), [(LATER_ROWS, "(2, 2)"), (LATER_COLUMNS, "(1, 3)")])
def test_sides_shrink_to_what_the_fault_needs(
    over: str, shape: str, session: GradingSession
) -> None:
    evaluation, result = checked(session, over)
    assert "rows" in result.failing
    found = smaller(evaluation, result)
    assert found.case_line.startswith("made smaller: ")
    assert f"x {shape}" in found.case_line
    assert found.mismatch is not None
    assert (found.mismatch.result, found.mismatch.case) == ("y", "rows")
    assert isinstance(found.exhibit, Grids)
    assert (found.verdict, found.message, found.failing) == (
        result.verdict, result.message, result.failing,
    )  # fmt: skip


def test_numbers_become_small_and_whole(session: GradingSession) -> None:
    found = smaller(*checked(session, LATER_ROWS))
    assert isinstance(found.exhibit, Grids)
    entries = [float(e) for row in found.exhibit.panels[0].rows for e in row]
    assert entries == [round(e, 1) for e in entries]


def test_it_is_the_same_each_time(session: GradingSession) -> None:
    first = smaller(*checked(session, LATER_ROWS))
    smaller(*checked(session, LATER_COLUMNS))
    assert smaller(*checked(session, LATER_ROWS)) == first


def test_what_is_no_entry_stays(session: GradingSession) -> None:
    evaluation, result = checked(session, "def centre(x, w):\n    return x[0], None")
    assert smaller(evaluation, result) is result


def test_a_pass_stays(session: GradingSession) -> None:
    evaluation, result = checked(session, "")
    assert smaller(evaluation, result) is result
