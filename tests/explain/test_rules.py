"""A rule holds on every failing case, is refuted by right ones, and rests on enough numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from grader.explain.cells import Cell
from grader.explain.explain import PROPOSALS
from grader.explain.rules import is_broad, surviving
from grader.explain.speaking import Component, spoken
from tests.explain.making import SHAPES, Array, cell, drawn, failing, said

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
    "is reversed along axis 1": lambda b: b[:, ::-1],
    "is the absolute value of the right one": np.abs,
    "is the mean of the right one along axis 1, repeated": (
        lambda b: np.repeat(b.mean(1, keepdims=True), b.shape[1], 1)
    ),
    "has its axes in the order 1, 0": lambda b: b.T,
    "is added up along axis 0": lambda b: b.sum(0),
    "lacks entries at the end of axis 1, and the others are right": lambda b: b[:, :-1],
    "has too many entries at the start of axis 1, and the others are right": (
        lambda b: np.concatenate([b[:, :1] + 1, b], axis=1)
    ),
    "lacks entries at the end of its axes, and the others are right": lambda b: (
        b[: len(b) - 1, :-1] if len(b) > 1 else b[:, :-1]
    ),
    "holds float32 numbers only": lambda b: b.astype(np.float32).astype(np.float64),
    "is off by less than 1e-9 of its largest entry": lambda b: b * (1 + 1e-10),
    "is rounded to 2 decimals": lambda b: np.round(b, 2),
    "is NaN in every entry": lambda b: np.full_like(b, np.nan),
}


def spoken_of(cells: list[Cell]) -> list[str]:
    results = Component("y", cells)
    known = {("y", group): surviving(PROPOSALS, mine) for group, mine in results.groups().items()}
    return [one.text for one in spoken(results, known)]


@pytest.mark.parametrize("text", WRONG)
def test_a_rule_says_what_is_true_of_every_failing_case(text: str) -> None:
    found = said(failing(WRONG[text]))
    assert text in found
    if "has wrong entries" not in text:
        assert found[0] == text


@pytest.mark.parametrize("text", WRONG)
def test_one_case_that_does_not_follow_it_ends_a_rule(text: str) -> None:
    other = drawn((3, 3), 1)
    assert text not in said([*failing(WRONG[text]), cell(drawn((3, 3), 2), other, x=other)])


def test_a_right_case_refutes_what_would_have_made_it_wrong() -> None:
    wrong = [cell(float(2 ** np.ceil(np.log2(n))), n, n=n) for n in (5, 9, 11, 23)]
    assert "is the next power of two" in said(wrong)
    assert "is the next power of two" in said(wrong, [cell(8.0, 8, ok=True, n=8)])
    assert "is the next power of two" not in said(wrong, [cell(3.0, 3, ok=True, n=3)])


def test_numbers_of_one_case_say_nothing() -> None:
    assert said(failing(lambda b: b / 2, SHAPES[:1])) == []


def test_the_same_numbers_again_say_nothing() -> None:
    b = np.array([[1.0, 1.0]])
    assert said([cell(b / 2, b, x=np.zeros(shape)) for shape in SHAPES]) == []


def test_cases_of_one_shape_do_not_tell_a_number_from_a_size() -> None:
    alike = [cell(b / 2, b, x=b) for b in (drawn((2, 3), seed) for seed in range(6))]
    assert said(alike) == []


def test_a_size_is_named_only_where_it_varies() -> None:
    half = [cell(b / 2, b, x=np.zeros((2, n))) for n, b in enumerate(map(drawn, SHAPES), 1)]
    assert said(half)[0] == "is half the right one"
    assert not any("axis" in text for text in said(half))


def test_another_result_an_input_and_a_sum_with_one_are_recognized() -> None:
    cells = failing(lambda b: b)
    for one in cells:
        one.others, other = {"z": drawn(one.want.shape, 7)}, drawn(one.want.shape, 7)
        one.got = other
    assert said(cells)[0] == "is the right z"
    cells = failing(lambda b: b)
    for one in cells:
        one.given = {"w": drawn(one.want.shape, 8)}
        one.got = one.want + 0.01 * one.given["w"]
    assert said(cells)[0] == "is the right one plus 0.01000 times the input w"


def test_a_rate_is_told_from_a_factor() -> None:
    cells = [cell(4 * n, 2 * n, n_params=n) for n in (7, 11, 10**9 + 7)]
    assert said(cells)[0] == "is 4 per n_params in every case"


def test_wrapped_integers_are_recognized() -> None:
    right = [2**33 + 12345, 2**40 + 7, 2**35 + 99]
    cells = [cell(int(np.int64(n).astype(np.int32)), n, n=n) for n in right]
    assert said(cells)[0] == "is off by a multiple of 2**32"
    sizes = [cell(n - 2**20, n, n=n) for n in right]
    assert not any("multiple of 2**" in text for text in said(sizes))


@pytest.mark.parametrize(
    "odd",
    [
        None, "text", {"a": 1}, [[1], [2, 3]], object(), np.zeros((2, 2), bool), [], np.nan, np.inf,
        10**400, [10**400], -0.0, 1j, np.array(["a"]), np.zeros((0, 3)), np.zeros((1,) * 8),
        np.full((2, 3), np.nan), np.array([[1, 2]], np.uint8), float("-inf"), True, (1, 2.5),
    ],
)  # fmt: skip
def test_whatever_a_submission_returns_raises_nothing(odd: object) -> None:
    said([cell(odd, drawn(shape)) for shape in SHAPES])
    said([cell(drawn(shape), odd) for shape in SHAPES])
    said([cell(odd, odd) for _ in SHAPES])
    said([cell(odd, 7, n=7), cell(odd, 9, n=9), cell(odd, None, n=2), cell(odd, 0.5, n=3)])
    held = cell({"a": odd, "b": odd, "c": odd}, {"a": 1, "b": 0.5, "c": np.zeros(3)})
    for part in held.parts():
        said([part])


def test_a_step_width_may_be_part_of_what_is_added() -> None:
    cells = failing(lambda b: b)
    for n, one in enumerate(cells, 1):
        one.given = {"w": drawn(one.want.shape, 8), "lr": 0.1 * n}
        one.got = one.want - 0.5 * 0.1 * n * one.given["w"]
    assert said(cells)[0] == "is the right one minus 0.5000 times lr times the input w"
    cells = [cell(one.want - 0.05 * one.given["w"], one.want, **one.given) for one in cells]
    assert said(cells)[0] == "is the right one minus 0.05000 times the input w"


def test_what_is_seen_of_wrong_entries_may_be_said_of_one_case() -> None:
    (one,) = failing(lambda b: np.where(b > 0, 0.0, b), SHAPES[:1])
    assert "is 0 in every entry that is wrong" in said([one])
    assert "is the right one with 0 for all that is negative" not in said([one])


def test_every_entry_is_refuted_by_a_right_case_and_then_said_of_none() -> None:
    wrong = failing(lambda b: np.full_like(b, np.inf), [(n, 3) for n in range(1, 9)])
    right = [cell(b, b, ok=True, x=b) for b in (drawn((2, 2)), drawn((4, 4)))]
    assert is_broad(wrong)
    (text,) = set(spoken_of([*wrong, *right]))
    assert text.startswith("is infinite in every entry that is wrong")
    assert "is infinite in every entry" in said(wrong)


def test_a_right_sum_has_an_example() -> None:
    shapes = ((1, 1, 2, 3), (1, 2, 3, 2), (2, 1, 2, 2))
    cells = failing(lambda b: np.roll(b, 1, axis=3), shapes)
    for one in cells:  # only two entries of a plane are in each other's place
        one.got = one.want.copy()
        one.got[0, 0, 0, 0] -= 1.5
        one.got[0, 0, 1, 1] += 1.5
    (text,) = spoken_of(cells)
    assert text.startswith("has wrong entries, and the right sum over each plane")
    assert text.endswith(
        " in case case most is missing at [0, 0, 0, 0] (1.500) "
        "and most is too much at [0, 0, 1, 1] (1.500)"
    )


def test_rounding_is_spoken_of_from_three_cases_on() -> None:
    off = failing(lambda b: b * (1 + 1e-10), [*SHAPES, (5, 5)])
    for one, name in zip(off, ["a", "a", "b", "b", "b"], strict=True):
        one.case = one.origin = name
    assert spoken_of(off) == []
    off[-1].case = off[-1].origin = "c"
    tried = " in every case that was tried"
    assert spoken_of(off) == ["is off by less than 1e-9 of its largest entry" + tried]


def test_what_is_equal_is_not_nearly_right() -> None:
    equal = failing(lambda b: b, [*SHAPES, (5, 5)])
    assert not any("off by" in text for text in said(equal))


def numbered(wrong: Callable[[int], float], right: Sequence[int]) -> list[Cell]:
    cells = [cell(wrong(n), n, n=n) for n in right]
    for number, one in enumerate(cells):
        one.case = one.origin = f"case {number}"
    return cells


def test_a_whole_number_may_be_off_by_a_constant() -> None:
    (text,) = spoken_of(numbered(lambda n: n + 1164, (7001, 93011, 12017)))
    assert text == "is 1,164 more than it should be in every case"


def test_a_whole_number_may_be_rounded_to_a_unit() -> None:
    million = 10**6
    cells = numbered(lambda n: round(n, -6), (7_300_001, 93_711_222, 12_900_017))
    same = [cell(n * million, n * million, ok=True, n=n * million) for n in (3, 5)]
    assert spoken_of([*cells, *same]) == ["is rounded to a whole multiple of 1,000,000"]
    down = numbered(lambda n: n // million * million, (7_300_001, 93_711_222, 12_900_017))
    assert spoken_of(down) == ["is rounded down to a whole multiple of 1,000,000"]


def test_to_which_side_a_number_is_off_is_not_said() -> None:
    """Other inputs may turn it: what is too large on these cases may be too small on others."""
    assert spoken_of(numbered(lambda n: n + 0.1 * n**2, (7, 12, 19))) == []


def test_what_is_no_number_is_said_only_if_nothing_else_is_wrong() -> None:
    wrong = [cell(n, None, n=n) for n in (3, 4, 5)]
    assert spoken_of(wrong)[0].startswith("is a number where None is expected")
    assert spoken_of([*wrong, cell(7, 12, n=8)]) == []


def test_empty_and_infinite_results_say_nothing_of_factors() -> None:
    empty = [cell(np.zeros((0, n)), np.zeros((n, 0))) for n in (1, 2, 3, 4)]
    assert not any("times" in text or "1/N" in text for text in said(empty))
    infinite = failing(lambda b: np.where(b > 0, np.inf, b))
    assert said(infinite)[0] == "is infinite in every entry that is wrong"


def test_a_constant_difference_is_no_matter_of_digits() -> None:
    wanted = [10**10 + 7, 3 * 10**10 + 11, 7 * 10**10 + 3, 2 * 10**11]
    found = said([cell(n + 1164, n, n=n) for n in wanted])
    assert found[0] == "is 1,164 more than it should be in every case"
    assert not any("digits" in text for text in found)
    found = said([cell(float(n) + 0.5, n / 1.0, n=n) for n in wanted])
    assert not any("digits" in text for text in found)
    assert "is right to 9 digits" in said([cell(n * (1 + 1e-10), n / 1.0, n=n) for n in wanted])


@pytest.mark.parametrize(("off", "words"), [(0.4, ""), (0.9, " down"), (-0.9, " up")])
def test_rounding_to_a_multiple_goes_one_way_or_to_the_nearest(off: float, words: str) -> None:
    units = [int(n * 10**6 + off * 10**6) for n in (7001, 13003, 20111, 33017)]
    rounded = [
        cell(n * 10**6, want, n=want)
        for n, want in zip((7001, 13003, 20111, 33017), units, strict=True)
    ]
    text = f"is rounded{words} to a whole multiple of 1,000,000"
    assert text in said(rounded)
    both_ways = [*rounded, cell(5 * 10**6, int((5 - 0.95 * np.sign(off)) * 10**6), n=5)]
    assert not any("to a whole multiple of 1,000,000" in found for found in said(both_ways))


def test_a_sum_of_rounded_parts_is_not_said_to_be_rounded() -> None:
    cells = []
    for n in (7_001_400_000, 13_003_300_000, 20_111_200_000, 33_017_300_000):
        one = cell(n // 10**6 * 10**6, n, n=n)
        one.others = {"weights": n // 4, "grads": n - n // 4}
        cells.append(one)
    assert not any("multiple of 1,000" in text for text in said(cells))


def test_right_numbers_in_a_list_are_not_off() -> None:
    found = said([cell(b.tolist(), b) for b in (drawn((n,)) for n in (3, 4, 5, 6))])
    assert "holds the right numbers, in a list or tuple" in found
    assert not any("off by" in text for text in found)


def test_what_says_where_it_holds_does_not_say_it_twice() -> None:
    wrong = [cell(n, None, n=n) for n in (2, 3, 4, 5)]
    right = [cell(n, n, ok=True, n=n) for n in (6, 7, 8, 9, 10)]
    for number, one in enumerate(right):
        one.origin = f"case {number}"
    for number, one in enumerate(wrong):
        one.origin = one.case = f"none {number}"
    component = Component("y", [*wrong, *right])
    rules = {("y", g): surviving(PROPOSALS, cs) for g, cs in component.groups().items()}
    (only,) = spoken(component, rules)
    assert only.text.count("None") == 1


def test_a_factor_near_one_is_written_out() -> None:
    (text,) = spoken_of(numbered(lambda n: 1.00025 * n, (7, 12, 19)))
    assert text == "is 1.00025 times the right one"
