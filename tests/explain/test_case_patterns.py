"""A class is spoken of only where all cases with it fail and all without it are right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from grader.explain.case_patterns import AMBIGUITY_NOTE, separating_properties
from grader.explain.observation import Observation
from tests.explain.making import drawn, seen

Given = dict[str, Any]
PAD = [{"pad": 0, "x": drawn((n,))} for n in (1, 2, 3)]
NO_PAD = [{"pad": n, "x": drawn((2,))} for n in (1, 2, 5, -1)]


def cases(given: list[Given], *origins: str, ok: bool = False) -> list[Observation]:
    """Observations of some inputs, made from three cases in turn if not said from which."""
    found = [seen(drawn((2,)), drawn((2,)), ok=ok, **one) for one in given]
    for number, one in enumerate(found):
        one.origin = origins[number % len(origins)] if origins else f"case {number % 3}"
    return found


@pytest.mark.parametrize(
    ("wrong", "right", "said"),
    [
        ([{"x": np.zeros((0, n))} for n in (1, 2, 3)], [{"x": drawn((n, 2))} for n in range(1, 6)],
         "x is empty"),
        (PAD, NO_PAD, "pad is 0"),
        # One right case with it ends a class, and so does one failing case without it.
        (PAD, [*NO_PAD, {"pad": 0, "x": drawn((4,))}], ""),
        ([*PAD, {"pad": 7, "x": drawn((2,))}], NO_PAD, ""),
        # Few cases say nothing, and neither do those of one shape with the same numbers.
        (PAD[:2], NO_PAD, ""),
        (PAD, NO_PAD[:2], ""),
        ([{"pad": 0, "x": drawn((2,), n)} for n in (1, 2, 3)], NO_PAD, ""),
        ([{"half": True, "n": n} for n in (3, 4, 5)],
         [{"half": False, "n": n} for n in (3, 4, 5, 6)], "half is True"),
        ([{"y": np.zeros(n)} for n in (3, 4, 5)], [{"y": drawn((n,))} for n in (3, 4, 5, 6)],
         f"y is 0 throughout and y has equal entries{AMBIGUITY_NOTE}"),
        ([{"t": n} for n in (0.5, 2.0, 3.5)], [{"t": 1.0, "x": drawn((n,))} for n in range(1, 5)],
         "t is not 1"),
        ([{"d": n} for n in (0.5, 2.0, 3.5)], [{"d": 0.0, "x": drawn((n,))} for n in range(1, 5)],
         "d is not 0"),
        # An input that never varies where it is right may be the cause.
        ([{"padding": 1, "stride": n} for n in (1, 2, 3)], [{"padding": 0, "stride": 1}] * 5, ""),
        ([{"padding": 1, "stride": n} for n in (1, 2, 3)],
         [{"padding": 0, "stride": n} for n in (1, 2, 3, 4)], "padding is not 0"),
        # Where many properties separate, nothing is said.
        ([{"a": 0, "b": 0, "c": 0}] * 3, [{"a": n, "b": n, "c": n} for n in (1, 2, 3, 4)], ""),
    ],
)  # fmt: skip
def test_what_separates_is_named(wrong: list[Given], right: list[Given], said: str) -> None:
    assert separating_properties(cases(wrong), cases(right, ok=True)) == said


def test_right_cases_that_are_made_from_one_say_nothing() -> None:
    wrong = cases(PAD)
    assert (
        separating_properties(wrong, cases(NO_PAD[:3], ok=True)) == "pad is 0"
    )  # none made from another
    assert separating_properties(wrong, cases(NO_PAD[:3], "one", "two", "two", ok=True)) == ""
    assert separating_properties(wrong, cases(NO_PAD, "one", ok=True)) == ""
