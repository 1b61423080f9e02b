"""The sampler's reference, starter and right solutions against torch, and against exact fractions.

torch computes in float64 with a softmax, a stable sort and a scatter, on whole batches. The
fractions come from the definition: every set of tokens is tried, and the smallest one that reaches
top_p is taken. The figures that prompt, hints, feedback and follow-ups quote are at the end.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch

from tests.harness import Array, Program, each, variants

variant = variants(__file__)
CLOSE = 1e-13  # deviations of 2e-16 were the largest seen
BANNED = -math.inf
BELOW_ONE = np.nextafter(1.0, 0.0)


def by_torch(logits: Array, temperature: float, top_k: int, top_p: float) -> Array:
    """Rows with at least one token, at a positive temperature."""
    z = torch.tensor(logits, dtype=torch.float64) / temperature
    ordered, tokens = torch.sort(z, dim=1, descending=True, stable=True)
    if top_k:
        ordered[:, top_k:] = -torch.inf
    shares = torch.softmax(ordered, dim=1)
    if top_p < 1:
        before = torch.cat([torch.zeros(len(z), 1, dtype=z.dtype), shares.cumsum(1)[:, :-1]], 1)
        shares = torch.softmax(ordered.masked_fill(before >= top_p, -torch.inf), dim=1)
    return np.asarray(torch.zeros_like(z).scatter(1, tokens, shares).numpy())


def exactly(weights: list[int], top_k: int, top_p: Fraction) -> list[Fraction]:
    """By the definition, for probabilities in proportion to whole numbers."""
    best = sorted(range(len(weights)), key=lambda i: (-weights[i], i))[: top_k or None]
    total = sum(weights[i] for i in best)
    sets = itertools.chain.from_iterable(
        itertools.combinations(best, n) for n in range(1, len(best) + 1)
    )
    enough = [s for s in sets if Fraction(sum(weights[i] for i in s), total) >= top_p]
    size = min(map(len, enough))
    # of the smallest sets the most probable one; of equal ones that of the lower indices
    kept = max(
        (s for s in enough if len(s) == size),
        key=lambda s: (sum(weights[i] for i in s), sorted(-i for i in s)[::-1]),
    )
    mass = sum(weights[i] for i in kept)
    return [Fraction(w, mass) if i in kept else Fraction(0) for i, w in enumerate(weights)]


SETTINGS = [
    (1.0, 0, 1.0),
    (0.5, 0, 1.0),
    (1.0, 3, 1.0),
    (1.0, 1, 1.0),
    (1.0, 0, 0.7),
    (2.5, 0, 0.75),
    (0.7, 5, 0.7),
    (1.3, 50, 0.93),
    (0.8, 4, 1e-9),
]


@each(("temperature", "top_k", "top_p"), SETTINGS)
def test_every_right_solution_agrees_with_torch(
    program: Program, temperature: float, top_k: int, top_p: float
) -> None:
    rng = np.random.default_rng(0)
    plain = rng.standard_normal((5, 13)) * 1.5
    banned = np.where(rng.random((6, 9)) < 0.3, BANNED, rng.standard_normal((6, 9)))
    banned[:, 4] = 0.3
    tied = rng.integers(0, 3, (4, 17)) * 1.03
    steep = rng.standard_normal((3, 7)) * 5000
    for logits in (plain, banned, tied, steep):
        got = program.probs(logits, temperature, top_k, top_p)
        expected = by_torch(logits, temperature, top_k, top_p)
        assert got.dtype == np.float64
        assert got.shape == logits.shape
        assert np.array_equal(got > 0, expected > 0)
        assert np.abs(got - expected).max() < CLOSE * (1 + np.abs(logits[logits > BANNED]).max())


@each("weights", [[2, 8, 1, 5, 4], [3, 45, 2], [2, 7, 5, 6], [7, 7, 7, 7, 7], [1, 9, 9, 4, 9, 4]])
def test_every_right_solution_keeps_the_smallest_set(program: Program, weights: list[int]) -> None:
    logits = np.log(np.array([weights], float))
    for top_k in (0, 2, 4):
        for top_p in (Fraction(21, 100), Fraction(501, 1000), Fraction(77, 100), Fraction(96, 100)):
            expected = exactly(weights, top_k, top_p)
            got = program.probs(logits, top_k=top_k, top_p=float(top_p))[0]
            assert [p > 0 for p in got] == [p > 0 for p in expected]
            assert got == pytest.approx([float(p) for p in expected], abs=1e-14)


def test_every_right_solution_draws_each_token_as_often_as_its_weight(program: Program) -> None:
    weights = [2, 8, 1, 5, 4]
    u = (np.arange(20) + 0.5) / 20  # one in the middle of every twentieth
    logits = np.tile(np.log(np.array(weights, float)), (20, 1))
    tokens = program.sample(logits, u)
    assert tokens.dtype == np.int64
    assert tokens.tolist() == [i for i, w in enumerate(weights) for _ in range(w)]
    # what is left of top_p = .7: 8, 5 and 4 of 17
    u = (np.arange(17) + 0.5) / 17
    assert program.sample(logits[:17], u, top_p=0.7).tolist() == [1] * 8 + [3] * 5 + [4] * 4


def test_every_right_solution_meets_the_edges(program: Program) -> None:
    logits = np.array([[1.0, 5.0, 5.0, 2.0], [BANNED] * 4, [BANNED, -3.0, BANNED, -4.0]])
    for top_k, top_p in ((0, 1.0), (2, 0.5)):
        greedy = program.probs(logits, 0.0, top_k, top_p)
        assert greedy.tolist() == [[0, 1, 0, 0], [0, 0, 0, 0], [0, 1, 0, 0]]
    zeros = np.zeros(3)
    assert program.sample(logits, zeros, temperature=0.0).tolist() == [1, -1, 1]
    assert program.sample(logits, zeros).tolist() == [0, -1, 1]
    faint = program.probs(np.array([[-40.0, 0.0, -45.0, BANNED]]))
    assert (faint > 0).tolist() == [[True, True, True, False]]


def test_every_right_solution_ends_with_a_token_that_has_weight(program: Program) -> None:
    rng = np.random.default_rng(1)
    logits = np.where(rng.random((60, 9)) < 0.34, BANNED, rng.standard_normal((60, 9)))
    p = program.probs(logits)
    assert (np.cumsum(p, axis=1)[p.any(axis=1), -1] <= BELOW_ONE).any()
    expected = [int(np.flatnonzero(row)[-1]) if row.any() else -1 for row in p]
    assert program.sample(logits, np.full(60, BELOW_ONE)).tolist() == expected
    assert any(0 < token < 8 for token in expected)


def kept(program: Program, logits: Array, **settings: float) -> Array:
    """How many tokens of each row keep a probability."""
    p = program.probs(logits, **settings)
    assert np.allclose(p.sum(axis=1), 1)
    return np.asarray((p > 0).sum(axis=1))


def test_the_starter_passes_the_tests_of_the_prompt(starter: Program) -> None:
    few = partial(kept, starter, np.random.default_rng(3).standard_normal((200, 20)) * 2)
    assert (few(top_k=7) == 7).all()
    assert few(top_p=0.01).min() == 1
    assert (few(top_p=0.5) <= few(top_p=0.6)).all()
    assert (few(top_p=0.6, temperature=0.8) <= few(top_p=0.6, temperature=1.2)).all()


def test_the_starter_is_right_but_for_top_p(starter: Program) -> None:
    logits = np.random.default_rng(4).standard_normal((5, 11))
    for temperature, top_k in ((1.0, 0), (0.5, 3), (2.0, 11)):
        expected = by_torch(logits, temperature, top_k, 1.0)
        assert np.abs(starter.probs(logits, temperature, top_k) - expected).max() < CLOSE
    assert (starter.probs(logits, top_p=0.7) > 0).sum() < (by_torch(logits, 1, 0, 0.7) > 0).sum()


def test_the_starter_is_duller(starter: Program, reference: Program) -> None:
    logits = np.random.default_rng(5).standard_normal((1000, 50)) * 3
    assert np.median(kept(reference, logits, top_p=0.5)) == 2
    assert np.median(kept(starter, logits, top_p=0.5)) == 1


def test_the_first_case_comes_out_as_by_hand(reference: Program, starter: Program) -> None:
    logits = np.log(np.array([[2.0, 8, 1, 5, 4]]))

    def row(program: Program) -> list[float]:
        return [round(float(p), 4) for p in program.probs(logits, top_p=0.7)[0]]

    assert row(reference) == [0, 0.4706, 0, 0.2941, 0.2353]
    assert row(starter) == [0, 0.6154, 0, 0.3846, 0]
    assert row(variant("one-too-many")) == [0.1053, 0.4211, 0, 0.2632, 0.2105]
    assert row(variant("sort-not-undone")) == [0.1818, 0.7273, 0.0909, 0, 0]
    # The first hint has one answer, and a follow-up's number of draws.
    shares = exactly([8, 5, 4, 2, 1], 0, Fraction(7, 10))
    assert [p > 0 for p in shares] == [True, True, True, False, False]
    assert round(3**2 * 0.3 * 0.7 / 0.01**2) == 18_900


def test_the_order_of_the_filters_changes_what_stays(reference: Program) -> None:
    logits = np.random.default_rng(6).standard_normal((50, 12)) * 0.8
    settings: dict[str, Any] = {"temperature": 0.7, "top_k": 5, "top_p": 0.7}
    right = kept(reference, logits, **settings)
    late = kept(variant("nucleus-before-k"), logits, **settings)
    assert (late >= right).all()
    assert (late > right).any()
    warm = np.random.default_rng(7).standard_normal((50, 8)) * 2
    early = kept(variant("filter-before-temperature"), warm, temperature=2.5, top_p=0.75)
    assert sum(early) < sum(kept(reference, warm, temperature=2.5, top_p=0.75))


def test_bfloat16_has_neighbors_an_eighth_apart() -> None:
    for start in (16.0, 24.0, 31.5):
        x = torch.tensor(start, dtype=torch.bfloat16)
        bits = x.view(torch.int16) + 1
        assert float(bits.view(torch.bfloat16)) - start == 0.125


def test_totals_round_as_the_second_hint_says(reference: Program) -> None:
    logits = np.random.default_rng(8).standard_normal((200, 9))
    ends = np.cumsum(reference.probs(logits), axis=1)[:, -1]
    assert BELOW_ONE in ends
    assert pytest.approx(1.1e-16, rel=0.01) == 1 - BELOW_ONE
    assert float(np.cumsum([1.0, math.exp(-40)])[0]) == 1.0


def test_exponentials_end_where_feedback_says() -> None:
    with np.errstate(over="ignore", under="ignore"):
        assert math.isfinite(np.exp(np.float64(709)))
        assert np.isinf(np.exp(np.float64(710)))
        assert np.exp(np.float64(-800)) == 0
