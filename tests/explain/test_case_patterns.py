"""A property is named only if all cases with it fail and all cases without it are right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from grader.explain.case_patterns import AMBIGUITY_NOTE, separating_properties
from grader.explain.observation import Observation
from tests.explain.making import draw, observe

Inputs = dict[str, Any]
PAD = [{"pad": 0, "x": draw((n,))} for n in (1, 2, 3)]
NO_PAD = [{"pad": n, "x": draw((2,))} for n in (1, 2, 5, -1)]


def cases(inputs: list[Inputs], *origins: str, is_right: bool = False) -> list[Observation]:
    """Return observations on some inputs, made from the given cases in turn, by default three."""
    origins = origins or ("case 0", "case 1", "case 2")
    observations = []
    for number, values in enumerate(inputs):
        observation = observe(draw((2,)), draw((2,)), is_right=is_right, **values)
        observation.origin = origins[number % len(origins)]
        observations.append(observation)
    return observations


@pytest.mark.parametrize(
    ("wrong", "right", "text"),
    [
        ([{"x": np.zeros((0, n))} for n in (1, 2, 3)], [{"x": draw((n, 2))} for n in range(1, 6)],
         "x is empty"),
        (PAD, NO_PAD, "pad is 0"),
        # One right case with the property is enough to drop it, or one failing case without it.
        (PAD, [*NO_PAD, {"pad": 0, "x": draw((4,))}], ""),
        ([*PAD, {"pad": 7, "x": draw((2,))}], NO_PAD, ""),
        # Few cases are not enough, nor are cases with one shape and the same numbers.
        (PAD[:2], NO_PAD, ""),
        (PAD, NO_PAD[:2], ""),
        ([{"pad": 0, "x": draw((2,), n)} for n in (1, 2, 3)], NO_PAD, ""),
        ([{"half": True, "n": n} for n in (3, 4, 5)],
         [{"half": False, "n": n} for n in (3, 4, 5, 6)], "half is True"),
        ([{"y": np.zeros(n)} for n in (3, 4, 5)], [{"y": draw((n,))} for n in (3, 4, 5, 6)],
         f"y is 0 throughout and y has equal entries{AMBIGUITY_NOTE}"),
        ([{"t": n} for n in (0.5, 2.0, 3.5)], [{"t": 1.0, "x": draw((n,))} for n in range(1, 5)],
         "t is not 1"),
        ([{"d": n} for n in (0.5, 2.0, 3.5)], [{"d": 0.0, "x": draw((n,))} for n in range(1, 5)],
         "d is not 0"),
        # An input that never varies in right cases may be the cause.
        ([{"padding": 1, "stride": n} for n in (1, 2, 3)], [{"padding": 0, "stride": 1}] * 5, ""),
        ([{"padding": 1, "stride": n} for n in (1, 2, 3)],
         [{"padding": 0, "stride": n} for n in (1, 2, 3, 4)], "padding is not 0"),
        # If many properties separate, none is named.
        ([{"a": 0, "b": 0, "c": 0}] * 3, [{"a": n, "b": n, "c": n} for n in (1, 2, 3, 4)], ""),
    ],
)  # fmt: skip
def test_a_separating_property_is_named(
    wrong: list[Inputs], right: list[Inputs], text: str
) -> None:
    assert separating_properties(cases(wrong), cases(right, is_right=True)) == text


def test_right_cases_must_be_made_from_several_cases() -> None:
    wrong = cases(PAD)
    # One right case less is enough if each is made from another case.
    assert separating_properties(wrong, cases(NO_PAD[:3], is_right=True)) == "pad is 0"
    assert separating_properties(wrong, cases(NO_PAD[:3], "one", "two", "two", is_right=True)) == ""
    assert separating_properties(wrong, cases(NO_PAD, "one", is_right=True)) == ""
