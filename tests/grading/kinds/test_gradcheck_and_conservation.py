"""Sums are judged on ties and kinks too, in any dtype, and wrong ones are named."""

# ruff: noqa: E501 a sentence that is compared stands on one line

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from grader.explain.session import grade
from grader.model.errors import BankError
from grader.model.report import Report, Verdict
from tests.audit.audits import question

pytestmark = pytest.mark.usefixtures("one_zygote")

REFERENCE = """
import numpy as np

def scatter(g):
    total = g.sum(axis=1)
    return np.repeat(g / 2, 2, axis=1).astype(g.dtype), total
"""
LAW = {"id": "law", "kind": "conservation", "sum": "out", "over": [1], "equals": "g"}
WRONG = "def scatter(g):\n    return np.repeat(g, 2, axis=1), g.sum(axis=1)\n"


def graded(folder: Path, submission: str, reference: str = REFERENCE, **law: Any) -> Report:
    cases: dict[str, Any] = {"one": {"g": [[1.0, 2.0]]}, "many": {"g": {"normal": [3, 4]}}}
    cases |= {"narrow": cases["many"] | {"dtype": "float32"}, "none": {"g": {"zeros": [0, 4]}}}
    asked = question(
        folder,
        reference=reference,
        variants={"twice": WRONG},
        interface="def scatter(g): ...",
        run=["out, total = scatter(g)"],
        cases=cases,
        checks=[LAW | law],
        starter_holds=["twice"],
        misconceptions={"twice": {"killed_by": "law", "feedback": "Each half gets all of it."}},
    )
    return grade(asked, (reference + submission).encode(), seed=1)


def test_right_sums_pass_in_any_dtype_and_order(tmp_path: Path) -> None:
    other = (
        "def scatter(g):\n    out = np.repeat(g, 2, 1); out[:, 1::2] = 0\n    return out, None\n"
    )
    report = graded(tmp_path, other)
    assert report.verdict is Verdict.PASS, report.checks


@pytest.mark.parametrize(
    ("out", "message"),
    [
        ("np.repeat(g, 2, axis=1)", "out summed over axes [1] is 6.000, expected the sum of g, 3.000 at [0] in case one"),
        ("g", "out has shape (1, 2), expected (1, 4) (case one)"),
        ("np.full((len(g), 2 * g.shape[1]), np.nan)", "out holds NaN or infinity (case one)"),
        ("None", "out is None, expected floats (case one)"),
        ("np.repeat(g, 2, 1).astype(int)", "out is an int64 array of shape (1, 4), expected floats (case one)"),
    ],
)  # fmt: skip
def test_other_sums_fail_in_one_sentence(tmp_path: Path, out: str, message: str) -> None:
    report = graded(tmp_path, f"def scatter(g): return {out}, g.sum(axis=1)")
    assert report.verdict is Verdict.FAIL
    assert report.checks[0].message == message


def test_an_idea_is_named_by_the_whole_result(tmp_path: Path) -> None:
    assert [m.id for m in graded(tmp_path / "a", WRONG).misconceptions] == ["twice"]
    same_sums = "def scatter(g):\n    out = np.zeros((len(g), 2 * g.shape[1]), g.dtype)\n"
    same_sums += "    out[:, :1] = 2 * g.sum(axis=1, keepdims=True)\n    return out, 0\n"
    report = graded(tmp_path / "b", same_sums)
    assert report.verdict is Verdict.FAIL
    assert not report.misconceptions


@pytest.mark.parametrize(
    ("law", "verdict"),
    [
        ({"equals": 3, "cases": "one"}, Verdict.FAIL),
        ({"equals": 6, "cases": "one"}, Verdict.PASS),
        ({"tolerance": {"relative": 0.5, "because": "why not"}}, Verdict.FAIL),
        ({"tolerance": {"absolute": 100.0, "because": "why not"}}, Verdict.PASS),
    ],
)
def test_the_sum_is_compared_with_a_number_an_input_or_a_result(
    tmp_path: Path, law: dict[str, Any], verdict: Verdict
) -> None:
    assert graded(tmp_path, WRONG, **law).verdict is verdict


def test_the_sum_may_equal_a_result_that_no_other_check_compares(tmp_path: Path) -> None:
    law: Any = {"sum": "total", "over": [0], "equals": 3, "cases": "one"}
    assert graded(tmp_path / "a", "", **law).verdict is Verdict.PASS
    # What it equals is the submission's own: wrong results may agree with each other.
    own: Any = {"sum": "out", "over": [1], "equals": "total", "cases": "many"}
    kept = "def scatter(g):\n    total = {}\n    return np.repeat(g, 2, axis=1), total\n"
    for number, (total, verdict) in enumerate(
        [
            ("2 * g.sum(axis=1, keepdims=True)", Verdict.PASS),
            ("g.sum(axis=1, keepdims=True)", Verdict.FAIL),
            ("g.sum(axis=1)", Verdict.FAIL),
        ]
    ):
        column = REFERENCE.replace("g.sum(axis=1)", "g.sum(axis=1, keepdims=True)")
        source = kept.format(total)
        assert graded(tmp_path / str(number), source, column, **own).verdict is verdict


@pytest.mark.parametrize(
    ("law", "message"),
    [
        ({"over": [2]}, "out of shape (1, 4) has no axes [2]"),
        ({"equals": "total"}, "total of shape (1,) has no axes [1]"),
        ({"equals": "total", "over": [0]}, "the sums of out and of total over [0] differ in shape"),
        ({"sum": "g"}, "expected a result of the run main, found 'g'; known: out, total"),
        ({"equals": "h"}, "expected an input or a result, found 'h'; known: g, out, total"),
        ({"over": "all"}, "checks[0].over: expected a list, found the text 'all'"),
    ],
)
def test_a_law_that_makes_no_sense_is_the_banks_fault(
    tmp_path: Path, law: dict[str, Any], message: str
) -> None:
    error_message = ""
    try:
        report = graded(tmp_path, "", **law)
        error_message = report.message if report.verdict is Verdict.INVALID else ""
    except BankError as error:
        error_message = error.message
    assert error_message.endswith(message)


def test_entry_by_entry_the_entries_are_shown_beside_the_inputs(tmp_path: Path) -> None:
    reference = "import numpy as np\n\ndef scatter(g):\n    return g * 1, g.sum(axis=1)\n"
    wrong = "def scatter(g):\n    return g + (g > 1), g.sum(axis=1)\n"
    report = graded(tmp_path, wrong, reference, over=[])
    (check,) = report.checks
    assert check.message == "out differs in 3 of 4 cases; the smallest is one" or check.mismatch
    assert check.mismatch is not None
    assert (check.mismatch.case, check.mismatch.index) == ("one", (0, 1))
    assert (check.mismatch.observed, check.mismatch.expected) == ("3.000", "2.000")
    assert check.exhibit is not None
