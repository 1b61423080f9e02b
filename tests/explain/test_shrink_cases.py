"""What is shown of a drawn case is made smaller where the check still fails."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from grader.explain.session import GradingSession
from grader.explain.shrink_cases import shrink_counterexamples
from grader.grading.run_checks import run_checks
from grader.model.report import CheckResult, Grids
from tests.explain.making import load

pytestmark = pytest.mark.usefixtures("one_zygote")

QUESTION = load("deviations")
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


def checked(session: GradingSession, over: str) -> tuple[CheckResult, CheckResult]:
    """The result of the first check, and what is shown of it."""
    source = f"{QUESTION.reference.decode()}\n{over}".encode()
    evaluation = session.evaluate_bank_program("submission", [source], 5)
    with np.errstate(all="ignore"):
        result = run_checks(evaluation)[0]
        return result, shrink_counterexamples(evaluation, (result,))[0]


@pytest.mark.parametrize(("over", "shape"), [(LATER_ROWS, "(2, 2)"), (LATER_COLUMNS, "(1, 3)")])
def test_sides_shrink_to_what_the_fault_needs_and_numbers_become_small(
    over: str, shape: str, session: GradingSession
) -> None:
    result, found = checked(session, over)
    assert "rows" in result.failing
    assert found.case_line.startswith("shown with smaller inputs: ")
    assert f"x {shape}" in found.case_line
    assert found.mismatch is not None
    assert (found.mismatch.result, found.mismatch.case) == ("y", "rows")
    assert isinstance(found.exhibit, Grids)
    entries = [float(e) for row in found.exhibit.panels[0].rows for e in row]
    assert entries == [round(e, 1) for e in entries]
    assert (found.verdict, found.message, found.failing) == (
        result.verdict, result.message, result.failing,
    )  # fmt: skip


def test_it_is_the_same_each_time(session: GradingSession) -> None:
    first = checked(session, LATER_ROWS)
    checked(session, LATER_COLUMNS)
    assert checked(session, LATER_ROWS) == first


@pytest.mark.parametrize("over", ["", "def centre(x, w):\n    return x[0], None"])
def test_a_pass_and_what_is_no_entry_stay(over: str, session: GradingSession) -> None:
    result, found = checked(session, over)
    assert found is result
