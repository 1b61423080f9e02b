"""The audit notices what the text leaves out and what a hint gives away, and is quiet otherwise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from grader.audit.wording import gives, hints
from grader.model.audit import Remark
from tests.audit.audits import audited, question

pytestmark = pytest.mark.usefixtures("one_zygote")

SAFE = "def relu(x):  # x (N, D) float64 -> y (N, D)"


def wording(folder: Path, **changes: Any) -> list[Remark]:
    return [r for r in audited(folder, **changes).remarks if r.about == "wording"]


def one(folder: Path, **changes: Any) -> Remark:
    (remark,) = wording(folder, **changes)
    assert remark.add
    return remark


def test_a_text_that_says_all_is_left_alone(tmp_path: Path) -> None:
    # Zero is where the gate turns, but nothing jumps there.
    assert wording(tmp_path, cases={"x": {"x": {"integers": [3, 4], "from": -1, "to": 1}}}) == []


def test_a_dtype_must_be_named(tmp_path: Path) -> None:
    remark = one(
        tmp_path,
        cases={"single": {"dtype": "float32", "x": {"normal": [4, 5]}}, "m": {"x": [[-1.0, 2.0]]}},
    )
    assert remark.text == "the text never says float32, which x of case single is"


def test_nan_and_infinity_must_be_mentioned_where_they_go_in_or_come_out(tmp_path: Path) -> None:
    odd = {"x": {"array": [[float("nan"), float("inf"), -1.0]]}}
    found = wording(tmp_path / "a", cases={"odd": odd, "m": {"x": {"normal": [4, 5]}}})
    assert [r.text for r in found] == [
        "the text does not mention NaN, as in x of case odd",
        "the text does not mention infinity, as in x of case odd",
    ]
    assert wording(tmp_path / "b", cases={"odd": odd}, contract=["NaN and inf are kept."]) == []


def test_a_budget_must_be_given(tmp_path: Path) -> None:
    speed = {"id": "speed", "kind": "performance", "at_most": 12, "cases": "many", "stretch": True}
    checks = [{"id": "gate", "kind": "outputs", "of": "y"}, speed]
    remark = one(tmp_path / "a", checks=checks)
    assert remark.text == "the text does not give the budget of speed, 12: 12 is not in it"
    for number, said in enumerate(["within twelve times", "at most 12x", "12.0 times"]):
        assert wording(tmp_path / str(number), checks=checks, contract=[said]) == []


@pytest.mark.parametrize(
    ("number", "text", "there"),
    [
        (0.5, "no more than half the bytes", True),
        (0.5, "at most 50 % of it", True),
        (1.3, "at most 1.30 times", True),
        (8, "at most 18 bytes, or 8.5", False),
        (1048576, "1,048,576 bytes", True),
        (256, "8 * y.size + 256 bytes", True),
        (4, "4", True),
        (4, "x4", False),
    ],
)
def test_a_number_is_found_however_it_is_written(number: float, text: str, there: bool) -> None:
    assert gives(text, number) is there


def holds(folder: Path, *told: str) -> list[str]:
    reference = """
        import numpy as np

        def relu(x):
            # The mask is what matters here, so take it first of all.
            open_gate = np.greater(x, 0)
            return (x * open_gate).astype(x.dtype) + np.maximum.reduce([0 * x, 0 * x])
    """
    begin = "def relu(x):\n    return x.copy()\n"
    asked = question(folder, reference=reference, begin=begin, hints=list(told))
    return [r.text for r in hints(asked)]


def test_a_line_of_the_reference_in_an_early_hint_is_remarked_on(tmp_path: Path) -> None:
    found = holds(tmp_path, "Write (x * open_gate).astype(x.dtype) then.", "Anything.")
    assert found == [
        "hint 1 of 2 holds ( x * open_gate ) . astype ( x . dtype ) of the reference: "
        "only the last may give the answer away; ask a question instead"
    ]


@pytest.mark.parametrize(
    "told",
    [
        "Which entries of x does the gate let through, and what is x.dtype?",
        "The mask is what matters here, so take it first of all.",  # a comment, not code
        "What does relu(x) do at x = 0 (and at x = -1), so that y is 0?",
    ],
)
def test_prose_gives_nothing_away(tmp_path: Path, told: str) -> None:
    # The starter is given, and what is in it too.
    assert holds(tmp_path, told, "The last.") == []


def test_the_last_hint_may_say_it(tmp_path: Path) -> None:
    assert holds(tmp_path, "Look closely.", "Write (x * open_gate).astype(x.dtype).") == []
