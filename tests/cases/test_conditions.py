"""Conditions that a draw has to meet: read without evaluating anything, held on every draw."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from grader.cases.conditions import FUNCTIONS, holds, names
from grader.cases.draw import DrawError, draw
from grader.cases.recipe import MAX_DRAWS, every_draw, read_cases
from grader.cases.size_expr import AmountError

X = np.array([[1.0, 1.0, -3.0], [0.0, 2.0, 1.0], [1.0, 1.0, -3.0]])
TRUE = [
    "max(x) == 2", "min(x) < -2.5", "spread(x) == 5", "largest(x) == 3", "ties(x) == 5",
    "top_ties(x) == 2", "zeros(x) == 1", "rows(x) == x.shape[0] - 1", "ties(x[1]) == 0",
    "max(x[0, 2]) == -3", "max(x[-1]) == 1", "n > 2", "0 < ties(x[0]) <= n - 2",
    "2 * max(x) + 1 != 4 * n",
]  # fmt: skip


@pytest.mark.parametrize("condition", TRUE)
def test_a_condition_is_a_comparison_of_amounts(condition: str) -> None:
    assert holds(condition, {"x": X, "n": 3})
    assert names(condition) <= {"x", "n"}


def test_it_can_be_missed() -> None:
    assert not holds("max(x) > 2", {"x": X})
    assert not holds("0 < ties(x) < 5", {"x": X})
    assert {c.split("(")[0] for c in TRUE if "(" in c} >= {"max", "min", "ties"}
    assert all(any(f"{name}(" in condition for condition in TRUE) for name in FUNCTIONS)


@pytest.mark.parametrize(
    "written",
    [
        "ties(x)", "max(x) > 1 and max(x) < 2", "median(x) > 0", "max(x + 1) > 0", "x[0] > 1",
        "max(x[:1]) > 0", "max(x, 1) > 0", "__import__('os') == 1", "max(x) in x", "max(x) >",
        "max(x.T) > 0", "max(*x) > 0", "1 < 2" + " + 1" * 80,
    ],
)  # fmt: skip
def test_nothing_else_is_one(written: str) -> None:
    with pytest.raises(AmountError):
        names(written)


@pytest.mark.parametrize("condition", ["max(x[9]) > 0", "max(x[0, 0, 0]) > 0", "x.shape[4] > 1"])
def test_what_an_input_has_not_is_said(condition: str) -> None:
    with pytest.raises(AmountError, match=r"has not|so no"):
        holds(condition, {"x": X})


def no_result(name: str, drawn: Mapping[str, Any]) -> tuple[int, ...]:
    """Stand for a question without results."""
    raise DrawError(f"{name} is no result of {', '.join(drawn)}")


def test_every_draw_meets_the_conditions_and_each_is_repeatable() -> None:
    rare = {"integers": [2, 3], "from": 0, "to": 9}
    cases, faults = read_cases({"c": {"x": rare, "where": ["ties(x[0]) == 0", "ties(x[1]) > 0"]}})
    assert faults == []
    first = [draw(cases["c"], seed, no_result)["x"] for seed in range(30)]
    again = [draw(cases["c"], seed, no_result)["x"] for seed in range(30)]
    assert all(len(set(x[0])) == 3 > len(set(x[1])) for x in first)
    assert all(np.array_equal(one, other) for one, other in zip(first, again, strict=True))
    assert len({x.tobytes() for x in first}) > 20


def test_a_draw_that_meets_them_at_once_is_the_one_without_them() -> None:
    plain, _ = read_cases({"c": {"x": {"normal": [4]}}})
    easy, _ = read_cases({"c": {"x": {"normal": [4]}, "where": "max(x) > -100"}})
    for seed in range(5):
        one, other = (draw(c["c"], seed, no_result)["x"] for c in (plain, easy))
        assert np.array_equal(one, other)


def test_a_condition_that_no_draw_meets_is_a_fault_that_names_it() -> None:
    cases, _ = read_cases({"c": {"x": {"normal": [4]}, "where": "max(x) > 100"}})
    with pytest.raises(DrawError, match=r"none of 500 draws meets 'max\(x\) > 100'"):
        draw(cases["c"], 0, no_result)


@pytest.mark.parametrize(
    ("key", "written", "said"),
    [
        ("where", "ties(x)", "expected a comparison"),
        ("where", ["max(x) > 0", 3], "expected a comparison in quotes, found 3"),
        ("where", "max(z) > 0", "expected an input of the case, found 'z'"),
        ("draws", 0, "expected a whole number from 1"),
        ("draws", MAX_DRAWS + 1, "expected a whole number from 1"),
        ("draws", True, "expected a whole number from 1"),
        (
            "draws",
            {"normal": [2]},
            f"expected a whole number from 1 to {MAX_DRAWS}, found "
            "{'normal': [2]}; draws is a word of cases: an input needs another name",
        ),
    ],
)
def test_what_is_written_wrongly_is_a_fault_with_its_key(
    key: str, written: object, said: str
) -> None:
    _, faults = read_cases({"c": {"x": {"normal": [4]}, key: written}})
    ((path, text),) = faults
    assert path == ("c", key)
    assert text.startswith(said)


def test_fixed_inputs_have_one_draw() -> None:
    _, faults = read_cases({"c": {"x": [1.0, 2.0], "draws": 3}})
    ((path, text),) = faults
    assert path == ("c", "draws")
    assert "found only fixed ones" in text


def test_further_draws_are_cases_of_their_own() -> None:
    cases, _ = read_cases({"c": {"x": {"normal": [4]}, "draws": 3}, "d": {"x": [1.0]}})
    every = every_draw(cases)
    assert list(every) == ["c", "c (2)", "c (3)", "d"]
    values = [draw(every[name], 7, no_result)["x"] for name in list(every)[:3]]
    assert len({x.tobytes() for x in values}) == 3
