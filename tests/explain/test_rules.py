"""A rule holds on every failing case, is refuted by right ones, and needs enough numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from grader.explain.explain import ResultObservations, make_statements
from grader.explain.observation import Observation
from grader.explain.rules import propose_rules
from tests.explain.making import SHAPES, Array, draw, make_failing, observe, rule_texts

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


def statement_texts(observations: list[Observation]) -> list[str]:
    result = ResultObservations("y")
    for observation in observations:
        result.add(observation)
    proposed = {kind: propose_rules(group) for kind, group in result.failures_by_kind().items()}
    return [statement.text for statement in make_statements(result, proposed)]


@pytest.mark.parametrize("text", WRONG)
def test_a_rule_holds_on_every_failing_case(text: str) -> None:
    texts = rule_texts(make_failing(WRONG[text]))
    assert text in texts
    if "has wrong entries" not in text:
        assert texts[0] == text


@pytest.mark.parametrize("text", WRONG)
def test_one_case_against_a_rule_is_enough_to_drop_it(text: str) -> None:
    other = draw((3, 3), 1)
    assert text not in rule_texts(
        [*make_failing(WRONG[text]), observe(draw((3, 3), 2), other, x=other)]
    )


def test_a_right_case_refutes_a_rule_that_would_make_it_wrong() -> None:
    wrong = [observe(np.ceil(n), n, n=n) for n in (5.5, 9.25, 11.1, 23.7)]
    assert "is rounded up" in rule_texts(wrong)
    assert "is rounded up" in rule_texts(wrong, [observe(8.0, 8.0, is_right=True, n=8.0)])
    assert "is rounded up" not in rule_texts(wrong, [observe(3.5, 3.5, is_right=True, n=3.5)])


def test_few_numbers_or_sizes_are_not_enough() -> None:
    """One case, the same numbers again, and one shape, in which 2 may be a size."""
    assert rule_texts(make_failing(lambda b: b / 2, SHAPES[:1])) == []
    b = np.array([[1.0, 1.0]])
    assert rule_texts([observe(b / 2, b, x=np.zeros(shape)) for shape in SHAPES]) == []
    assert (
        rule_texts([observe(b / 2, b, x=b) for b in (draw((2, 3), seed) for seed in range(6))])
        == []
    )


def test_a_repetition_along_an_axis_is_recognized() -> None:
    shapes, text = SHAPES[:3], "repeats the sum of the right one along its first axis"
    assert text in rule_texts(make_failing(lambda b: np.broadcast_to(b.sum(0), b.shape), shapes))
    assert text not in rule_texts(
        make_failing(lambda b: np.broadcast_to(b[0] + b[1], b.shape), shapes)
    )


def wrong_after(rows: int, shapes: Sequence[tuple[int, ...]]) -> list[Observation]:
    """Return observations that are wrong in all rows except the first ones."""
    return make_failing(lambda b: np.where(np.arange(len(b))[:, None] >= rows, b * b, b), shapes)


def test_the_place_of_the_wrong_entries_is_named_if_all_others_are_right() -> None:
    text = "is wrong only after the first index of its first axis"
    shapes = ((2, 3), (4, 2), (3, 5), (5, 4))
    assert text in rule_texts(wrong_after(1, shapes))
    assert text not in rule_texts([*wrong_after(1, shapes), *wrong_after(0, [(3, 3)])])
    # In most cases only some of these rows are wrong.
    assert text not in rule_texts([*wrong_after(1, shapes[:1]), *wrong_after(2, shapes[1:])])


def test_wrong_zeros_are_not_named_as_a_place() -> None:
    zeros = make_failing(lambda b: np.where(b > 0, b, 0.0))
    for observation in zeros:
        observation.expected_value = observation.returned
        observation.returned = np.where(observation.returned > 0, observation.returned, 0.5)
    assert not any("is 0" in text or "0 is expected" in text for text in rule_texts(zeros))


def test_a_size_is_named_only_if_it_varies() -> None:
    half = [observe(b / 2, b, x=np.zeros((2, n))) for n, b in enumerate(map(draw, SHAPES), 1)]
    assert rule_texts(half)[0] == "is half the right one"
    assert not any("axis" in text for text in rule_texts(half))


def test_another_result_an_input_and_a_sum_with_one_are_recognized() -> None:
    cells = make_failing(lambda b: b)
    for observation in cells:
        other = draw(observation.expected_value.shape, 7)
        observation.other_results = {"z": other}
        observation.returned = other
    assert rule_texts(cells)[0] == "is the right z"
    cells = make_failing(lambda b: b)
    for observation in cells:
        w = draw(observation.expected_value.shape, 8)
        observation.input_values = {"w": w}
        observation.returned = observation.expected_value + 0.01 * w
    assert rule_texts(cells)[0] == "is the right one plus 0.01000 times the input w"


@pytest.mark.parametrize(
    "odd",
    [
        None, "text", {"a": 1}, [[1], [2, 3]], object(), np.zeros((2, 2), bool), [], np.nan, np.inf,
        10**400, [10**400], -0.0, 1j, np.array(["a"]), np.zeros((0, 3)), np.zeros((1,) * 8),
        np.full((2, 3), np.nan), np.array([[1, 2]], np.uint8), float("-inf"), True, (1, 2.5),
    ],
)  # fmt: skip
def test_no_returned_value_makes_a_rule_raise(odd: object) -> None:
    rule_texts([observe(odd, draw(shape)) for shape in SHAPES])
    rule_texts([observe(draw(shape), odd) for shape in SHAPES])
    rule_texts([observe(odd, odd) for _ in SHAPES])
    rule_texts(
        [
            observe(odd, 7, n=7),
            observe(odd, 9, n=9),
            observe(odd, None, n=2),
            observe(odd, 0.5, n=3),
        ]
    )
    observation = observe({"a": odd, "b": odd, "c": odd}, {"a": 1, "b": 0.5, "c": np.zeros(3)})
    for item in observation.split_items():
        rule_texts([item])


def test_one_case_is_enough_for_a_pattern_of_wrong_entries() -> None:
    (observation,) = make_failing(lambda b: np.where(b > 0, 0.0, b), SHAPES[:1])
    assert "is 0 in every entry that is wrong" in rule_texts([observation])
    assert "is the right one with 0 for all that is negative" not in rule_texts([observation])


def test_wrong_entries_may_have_the_right_sum() -> None:
    shapes = ((1, 1, 2, 3), (1, 2, 3, 2), (2, 1, 2, 2))
    cells = make_failing(lambda b: np.roll(b, 1, axis=3), shapes)
    for observation in cells:  # two entries of a plane are wrong by opposite amounts
        observation.returned = observation.expected_value.copy()
        observation.returned[0, 0, 0, 0] -= 1.5
        observation.returned[0, 0, 1, 1] += 1.5
    (text,) = statement_texts(cells)
    assert text.startswith("has wrong entries, and the right sum over each plane")


def test_rounding_is_named_from_three_cases_on() -> None:
    off = make_failing(lambda b: b * (1 + 1e-10), [*SHAPES, (5, 5)])
    for observation, name in zip(off, ["a", "a", "b", "b", "b"], strict=True):
        observation.case = observation.origin = name
    assert statement_texts(off) == []
    off[-1].case = off[-1].origin = "c"
    tried = " in every case that was tried"
    assert statement_texts(off) == ["is off by less than 1e-9 of its largest entry" + tried]


def number_observations(wrong: Callable[[int], float], right: Sequence[int]) -> list[Observation]:
    cells = [observe(wrong(n), n, n=n) for n in right]
    for number, observation in enumerate(cells):
        observation.case = observation.origin = f"case {number}"
    return cells


def test_a_factor_is_named_if_it_is_the_same_in_all_cases() -> None:
    """A varying factor says nothing: too large on these cases may be too small on others."""
    assert statement_texts(number_observations(lambda n: n + 0.1 * n**2, (7, 12, 19))) == []
    (text,) = statement_texts(number_observations(lambda n: 1.00025 * n, (7, 12, 19)))
    assert text == "is 1.00025 times the right one"


def test_a_number_in_place_of_none_is_named_even_if_more_is_wrong() -> None:
    wrong = [observe(n, None, n=n) for n in (3, 4, 5)]
    assert statement_texts(wrong)[0].startswith("is a number where None is expected")
    assert statement_texts([*wrong, observe(7, 12, n=8)])[0].startswith(
        "is a number where None is expected"
    )


def test_empty_and_infinite_results_have_no_factor() -> None:
    empty = [observe(np.zeros((0, n)), np.zeros((n, 0))) for n in (1, 2, 3, 4)]
    assert not any("times" in text or "1/N" in text for text in rule_texts(empty))
    infinite = make_failing(lambda b: np.where(b > 0, np.inf, b))
    assert rule_texts(infinite)[0] == "is infinite in every entry that is wrong"


def test_right_numbers_in_a_list_or_array_are_not_called_off() -> None:
    assert rule_texts([observe(b.tolist(), b) for b in (draw((n,)) for n in (3, 4, 5, 6))]) == []
    equal = make_failing(lambda b: b, [*SHAPES, (5, 5)])
    assert not any("off by" in text for text in rule_texts(equal))


def test_a_rule_about_none_does_not_repeat_where_it_holds() -> None:
    wrong = [observe(n, None, n=n) for n in (2, 3, 4, 5)]
    right = [observe(n, n, is_right=True, n=n) for n in (6, 7, 8, 9, 10)]
    for number, observation in enumerate(right):
        observation.origin = f"case {number}"
    for number, observation in enumerate(wrong):
        observation.origin = observation.case = f"none {number}"
    (only,) = statement_texts([*wrong, *right])
    assert only.count("None") == 1
