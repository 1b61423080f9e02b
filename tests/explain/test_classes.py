"""A class is spoken of only where all cases with it fail and all without it are right."""

from __future__ import annotations

import numpy as np

from grader.explain.classes import UNTOLD, separating
from grader.explain.observation import Observation
from tests.explain.making import drawn, seen


def case(origin: str, *, ok: bool, **given: object) -> Observation:
    made = seen(drawn((2,)), drawn((2,)), ok=ok, **given)
    made.origin = origin
    return made


def cases(*, ok: bool, given: list[dict[str, object]]) -> list[Observation]:
    return [case(f"case {n % 3}", ok=ok, **one) for n, one in enumerate(given)]


def test_what_separates_is_named() -> None:
    wrong = cases(ok=False, given=[{"x": np.zeros((0, n))} for n in (1, 2, 3)])
    right = cases(ok=True, given=[{"x": drawn((n, 2))} for n in (1, 2, 3, 4, 5)])
    assert separating(wrong, right) == "x is empty"


def test_one_right_case_with_it_ends_a_class() -> None:
    wrong = cases(ok=False, given=[{"padding": 0, "stride": n} for n in (1, 2, 3)])
    right = cases(ok=True, given=[{"padding": n, "stride": n} for n in (1, 2, 3, 4)])
    assert "padding is 0" in separating(wrong, right)
    more = [*right, case("case 1", ok=True, padding=0, stride=9)]
    assert separating(wrong, more) == ""


def test_one_failing_case_without_it_ends_a_class() -> None:
    wrong = cases(ok=False, given=[{"pad": 0, "x": drawn((n,))} for n in (1, 2, 3)])
    right = cases(ok=True, given=[{"pad": n, "x": drawn((2,))} for n in (1, 2, 5, -1)])
    assert separating(wrong, right) == "pad is 0"
    other = case("case 1", ok=False, pad=7, x=drawn((2,)))
    assert separating([*wrong, other], right) == ""


def test_few_cases_or_cases_made_from_one_say_nothing() -> None:
    wrong = cases(ok=False, given=[{"pad": 0, "x": drawn((n,))} for n in (1, 2, 3)])
    right = cases(ok=True, given=[{"pad": n, "x": drawn((2,))} for n in (1, 2, 5, -1)])
    assert separating(wrong[:2], right) == ""
    assert separating(wrong, right[:2]) == ""
    assert separating(wrong, right[:3]) == "pad is 0"  # three cases, none made from another
    right[2].origin = right[1].origin
    assert separating(wrong, right[:3]) == ""
    for one in right:
        one.origin = "one"
    assert separating(wrong, right) == ""


def test_cases_of_one_shape_with_the_same_numbers_say_nothing() -> None:
    wrong = cases(ok=False, given=[{"pad": 0, "x": drawn((2,), n)} for n in (1, 2, 3)])
    right = cases(ok=True, given=[{"pad": n, "x": drawn((2,))} for n in (1, 2, 5, -1)])
    assert separating(wrong, right) == ""
    wrong[0].given = {"pad": 0, "x": drawn((3,))}
    assert separating(wrong, right) == "pad is 0"


def test_a_truth_value_separates() -> None:
    wrong = cases(ok=False, given=[{"half": True, "n": n} for n in (3, 4, 5)])
    right = cases(ok=True, given=[{"half": False, "n": n} for n in (3, 4, 5, 6)])
    assert separating(wrong, right) == "half is True"


def test_an_empty_array_has_no_large_entries() -> None:
    wrong = cases(ok=False, given=[{"t": np.array([200] * n)} for n in (1, 2, 3)])
    right = cases(ok=True, given=[{"t": np.full(n, 5)} for n in (0, 1, 2, 3)])
    assert separating(wrong, right) == "t has entries above 127"


def test_what_is_not_one_hot_is_a_property() -> None:
    wrong = cases(ok=False, given=[{"y": n * np.eye(n)[0]} for n in (3, 4, 5)])
    right = cases(ok=True, given=[{"y": np.eye(3)[n]} for n in (0, 1, 2)])
    assert separating(wrong, right) == f"y is not one-hot and y does not add up to 1{UNTOLD}"
    right.append(case("case 2", ok=True, y=np.array([0.0, 2.0])))
    assert separating(wrong, right) == ""


def test_an_input_that_never_varies_where_it_is_right_may_be_the_cause() -> None:
    wrong = cases(ok=False, given=[{"padding": 1, "stride": n} for n in (1, 2, 3)])
    right = cases(ok=True, given=[{"padding": 0, "stride": 1}] * 5)
    assert separating(wrong, right) == ""
    right = cases(ok=True, given=[{"padding": 0, "stride": n} for n in (1, 2, 3, 4)])
    assert separating(wrong, right) == "padding is not 0"


def test_where_many_properties_separate_nothing_is_said() -> None:
    wrong = cases(ok=False, given=[{"a": 0, "b": 0, "c": 0}] * 3)
    right = cases(ok=True, given=[{"a": n, "b": n, "c": n} for n in (1, 2, 3, 4)])
    assert separating(wrong, right) == ""


def test_numbers_of_one_case_are_not_compared() -> None:
    wrong = [case("one", ok=False, stride=n, padding=n) for n in (1, 2, 3)]
    right = cases(ok=True, given=[{"stride": n, "padding": 0} for n in (1, 2, 3, 4)])
    right += cases(ok=True, given=[{"stride": n, "padding": 5 - n} for n in (1, 2, 3, 4)])
    assert separating(wrong, right) == ""
    wrong[0].origin = "another"
    assert separating(wrong, right) == "stride equals padding"


def test_what_has_several_entries_is_not_called_not_one_hot_as_well() -> None:
    wrong = cases(ok=False, given=[{"y": np.full(n, 1 / n)} for n in (3, 4, 5)])
    right = cases(ok=True, given=[{"y": np.eye(3)[n]} for n in (0, 1, 2)])
    assert "one-hot" not in separating(wrong, right)
    assert "several entries that are not 0" in separating(wrong, right)
