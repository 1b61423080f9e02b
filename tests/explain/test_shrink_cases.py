"""A drawn case is shown with smaller inputs on which the check still fails."""

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
# Right in the case written out: the report shows a drawn case with three rows and four columns.
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
    """Return the result of the first check, and the same after shrinking."""
    source = f"{QUESTION.reference.decode()}\n{over}".encode()
    evaluation = session.evaluate_bank_program("submission", [source], 5)
    with np.errstate(all="ignore"):
        result = run_checks(evaluation)[0]
        return result, shrink_counterexamples(evaluation, (result,))[0]


@pytest.mark.parametrize(("over", "shape"), [(LATER_ROWS, "(2, 2)"), (LATER_COLUMNS, "(1, 3)")])
def test_sides_become_as_short_as_the_fault_allows_and_numbers_small(
    over: str, shape: str, session: GradingSession
) -> None:
    result, shrunk = checked(session, over)
    assert "rows" in result.failing
    assert shrunk.case_line.startswith("shown with smaller inputs: ")
    assert f"x {shape}" in shrunk.case_line
    assert shrunk.mismatch is not None
    assert (shrunk.mismatch.result, shrunk.mismatch.case) == ("y", "rows")
    assert isinstance(shrunk.exhibit, Grids)
    entries = [float(e) for row in shrunk.exhibit.panels[0].rows for e in row]
    assert entries == [round(e, 1) for e in entries]
    assert (shrunk.verdict, shrunk.message, shrunk.failing) == (
        result.verdict, result.message, result.failing,
    )  # fmt: skip


def test_shrinking_gives_the_same_case_each_time(session: GradingSession) -> None:
    first = checked(session, LATER_ROWS)
    checked(session, LATER_COLUMNS)
    assert checked(session, LATER_ROWS) == first


@pytest.mark.parametrize("over", ["", "def centre(x, w):\n    return x[0], None"])
def test_a_pass_and_a_failure_without_an_entry_stay(over: str, session: GradingSession) -> None:
    result, shrunk = checked(session, over)
    assert shrunk is result
