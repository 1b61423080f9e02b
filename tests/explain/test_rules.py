"""A rule holds on every failing case, is refuted by right ones, and rests on enough numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from grader.explain.explain import ResultObservations, make_statements
from grader.explain.observation import Observation
from grader.explain.rules import propose_rules
from tests.explain.making import SHAPES, Array, drawn, failing, said, seen

WRONG: dict[str, Callable[[Array], object]] = {
    "is 0 throughout": np.zeros_like,
    "is minus the right one": lambda b: -b,
    "is half the right one": lambda b: b / 2,
    "is 0.3000 times the right one": lambda b: 0.3 * b,
    "is 1/N of the right one, with N the length of the second axis of x": lambda b: b / b.shape[1],
    "is N/(N - 1) of the right one, with N the length of the second axis of x": (
        lambda b: b * b.shape[1] / (b.shape[1] - 1)
    ),
    "is 1/N of the right one, with N the number of entries of x": lambda b: b / b.size,
    "is the absolute value of the right one": np.abs,
    "has axes 0 and 1 exchanged": lambda b: b.T,
    "has the right numbers in the right order, in another shape": lambda b: b.ravel(),
    "holds float32 numbers only": lambda b: b.astype(np.float32).astype(np.float64),
    "is off by less than 1e-9 of its largest entry in every case that was tried": lambda b: (
        b * (1 + 1e-10)
    ),
    "is rounded to 2 decimals": lambda b: np.round(b, 2),
    "is NaN in every entry that is wrong": lambda b: np.full_like(b, np.nan),
    "is the right one plus 2.000": lambda b: b + 2,
}


def stated(observations: list[Observation]) -> list[str]:
    known = ResultObservations("y", observations)
    proposed = {group: propose_rules(mine) for group, mine in known.failures_by_kind().items()}
    return [one.text for one in make_statements(known, proposed)]


@pytest.mark.parametrize("text", WRONG)
def test_a_rule_says_what_is_true_of_every_failing_case(text: str) -> None:
    found = said(failing(WRONG[text]))
    assert text in found
    if "has wrong entries" not in text:
        assert found[0] == text


@pytest.mark.parametrize("text", WRONG)
def test_one_case_that_does_not_follow_it_ends_a_rule(text: str) -> None:
    other = drawn((3, 3), 1)
    assert text not in said([*failing(WRONG[text]), seen(drawn((3, 3), 2), other, x=other)])


def test_a_right_case_refutes_what_would_have_made_it_wrong() -> None:
    wrong = [seen(np.ceil(n), n, n=n) for n in (5.5, 9.25, 11.1, 23.7)]
    assert "is rounded up" in said(wrong)
    assert "is rounded up" in said(wrong, [seen(8.0, 8.0, ok=True, n=8.0)])
    assert "is rounded up" not in said(wrong, [seen(3.5, 3.5, ok=True, n=3.5)])


def test_few_numbers_or_sizes_say_nothing() -> None:
    """One case; the same numbers again; cases of one shape, that do not tell 2 from a size."""
    assert said(failing(lambda b: b / 2, SHAPES[:1])) == []
    b = np.array([[1.0, 1.0]])
    assert said([seen(b / 2, b, x=np.zeros(shape)) for shape in SHAPES]) == []
    assert said([seen(b / 2, b, x=b) for b in (drawn((2, 3), seed) for seed in range(6))]) == []


def test_what_is_repeated_along_an_axis_is_seen() -> None:
    shapes, text = SHAPES[:3], "repeats the sum of the right one along its first axis"
    assert text in said(failing(lambda b: np.broadcast_to(b.sum(0), b.shape), shapes))
    assert text not in said(failing(lambda b: np.broadcast_to(b[0] + b[1], b.shape), shapes))


def later(rows: int, shapes: Sequence[tuple[int, ...]]) -> list[Observation]:
    """Wrong in all rows but the first ones, and in nothing else."""
    return failing(lambda b: np.where(np.arange(len(b))[:, None] >= rows, b * b, b), shapes)


def test_where_the_wrong_entries_are_is_said_where_all_others_are_right() -> None:
    text = "is wrong only after the first index of its first axis"
    shapes = ((2, 3), (4, 2), (3, 5), (5, 4))
    assert text in said(later(1, shapes))
    assert text not in said([*later(1, shapes), *later(0, [(3, 3)])])
    # Wrong in some rows of most cases: elsewhere it may be anything.
    assert text not in said([*later(1, shapes[:1]), *later(2, shapes[1:])])


def test_that_zeros_are_wrong_says_nothing() -> None:
    zeros = failing(lambda b: np.where(b > 0, b, 0.0))
    for one in zeros:
        one.expected_value, one.returned = (
            one.returned,
            np.where(one.returned > 0, one.returned, 0.5),
        )
    assert not any("is 0" in text or "0 is expected" in text for text in said(zeros))


def test_a_size_is_named_only_where_it_varies() -> None:
    half = [seen(b / 2, b, x=np.zeros((2, n))) for n, b in enumerate(map(drawn, SHAPES), 1)]
    assert said(half)[0] == "is half the right one"
    assert not any("axis" in text for text in said(half))


def test_another_result_an_input_and_a_sum_with_one_are_recognized() -> None:
    cells = failing(lambda b: b)
    for one in cells:
        one.other_results, other = (
            {"z": drawn(one.expected_value.shape, 7)},
            drawn(one.expected_value.shape, 7),
        )
        one.returned = other
    assert said(cells)[0] == "is the right z"
    cells = failing(lambda b: b)
    for one in cells:
        one.input_values = {"w": drawn(one.expected_value.shape, 8)}
        one.returned = one.expected_value + 0.01 * one.input_values["w"]
    assert said(cells)[0] == "is the right one plus 0.01000 times the input w"


@pytest.mark.parametrize(
    "odd",
    [
        None, "text", {"a": 1}, [[1], [2, 3]], object(), np.zeros((2, 2), bool), [], np.nan, np.inf,
        10**400, [10**400], -0.0, 1j, np.array(["a"]), np.zeros((0, 3)), np.zeros((1,) * 8),
        np.full((2, 3), np.nan), np.array([[1, 2]], np.uint8), float("-inf"), True, (1, 2.5),
    ],
)  # fmt: skip
def test_whatever_a_submission_returns_raises_nothing(odd: object) -> None:
    said([seen(odd, drawn(shape)) for shape in SHAPES])
    said([seen(drawn(shape), odd) for shape in SHAPES])
    said([seen(odd, odd) for _ in SHAPES])
    said([seen(odd, 7, n=7), seen(odd, 9, n=9), seen(odd, None, n=2), seen(odd, 0.5, n=3)])
    held = seen({"a": odd, "b": odd, "c": odd}, {"a": 1, "b": 0.5, "c": np.zeros(3)})
    for part in held.split_items():
        said([part])


def test_what_is_seen_of_wrong_entries_may_be_said_of_one_case() -> None:
    (one,) = failing(lambda b: np.where(b > 0, 0.0, b), SHAPES[:1])
    assert "is 0 in every entry that is wrong" in said([one])
    assert "is the right one with 0 for all that is negative" not in said([one])


def test_wrong_entries_may_have_the_right_sum() -> None:
    shapes = ((1, 1, 2, 3), (1, 2, 3, 2), (2, 1, 2, 2))
    cells = failing(lambda b: np.roll(b, 1, axis=3), shapes)
    for one in cells:  # only two entries of a plane are in each other's place
        one.returned = one.expected_value.copy()
        one.returned[0, 0, 0, 0] -= 1.5
        one.returned[0, 0, 1, 1] += 1.5
    (text,) = stated(cells)
    assert text.startswith("has wrong entries, and the right sum over each plane")


def test_rounding_is_spoken_of_from_three_cases_on() -> None:
    off = failing(lambda b: b * (1 + 1e-10), [*SHAPES, (5, 5)])
    for one, name in zip(off, ["a", "a", "b", "b", "b"], strict=True):
        one.case = one.origin = name
    assert stated(off) == []
    off[-1].case = off[-1].origin = "c"
    tried = " in every case that was tried"
    assert stated(off) == ["is off by less than 1e-9 of its largest entry" + tried]


def numbered(wrong: Callable[[int], float], right: Sequence[int]) -> list[Observation]:
    cells = [seen(wrong(n), n, n=n) for n in right]
    for number, one in enumerate(cells):
        one.case = one.origin = f"case {number}"
    return cells


def test_how_far_a_number_is_off_is_said_where_it_is_one_factor() -> None:
    """Other inputs may turn it: what is too large on these cases may be too small on others."""
    assert stated(numbered(lambda n: n + 0.1 * n**2, (7, 12, 19))) == []
    (text,) = stated(numbered(lambda n: 1.00025 * n, (7, 12, 19)))
    assert text == "is 1.00025 times the right one"


def test_what_is_no_number_is_said_whatever_else_is_wrong() -> None:
    wrong = [seen(n, None, n=n) for n in (3, 4, 5)]
    assert stated(wrong)[0].startswith("is a number where None is expected")
    assert stated([*wrong, seen(7, 12, n=8)])[0].startswith("is a number where None is expected")


def test_empty_and_infinite_results_say_nothing_of_factors() -> None:
    empty = [seen(np.zeros((0, n)), np.zeros((n, 0))) for n in (1, 2, 3, 4)]
    assert not any("times" in text or "1/N" in text for text in said(empty))
    infinite = failing(lambda b: np.where(b > 0, np.inf, b))
    assert said(infinite)[0] == "is infinite in every entry that is wrong"


def test_right_numbers_in_a_list_and_equal_ones_are_not_off() -> None:
    assert said([seen(b.tolist(), b) for b in (drawn((n,)) for n in (3, 4, 5, 6))]) == []
    equal = failing(lambda b: b, [*SHAPES, (5, 5)])
    assert not any("off by" in text for text in said(equal))


def test_what_says_where_it_holds_does_not_say_it_twice() -> None:
    wrong = [seen(n, None, n=n) for n in (2, 3, 4, 5)]
    right = [seen(n, n, ok=True, n=n) for n in (6, 7, 8, 9, 10)]
    for number, one in enumerate(right):
        one.origin = f"case {number}"
    for number, one in enumerate(wrong):
        one.origin = one.case = f"none {number}"
    (only,) = stated([*wrong, *right])
    assert only.count("None") == 1
