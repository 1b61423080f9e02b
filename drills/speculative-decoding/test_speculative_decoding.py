"""The reference and every right solution of speculative-decoding, against exact enumeration.

The oracle of a law is the target's own: numbers u take all midpoints of a grid on which every limit
lies, so that shares of the grid are probabilities. That of tokens has no caches.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.harness import Array, Program, assert_close, each, load, variants

variant = variants(__file__)
serving = load(Path(__file__).with_name("serving.py"))
THREE = np.array([0.25, 0.25, 0.5]), np.array([0.5, 0.25, 0.25])
FOUR = np.array([0.5, 0.25, 0.25, 0.0]), np.array([0.125, 0.25, 0.125, 0.5])
# By the last token: what the target and the draft give the next one, in quarters.
TARGET = np.array([[0.25, 0.25, 0.5], [0.5, 0.25, 0.25], [0.5, 0.5, 0.0]])
DRAFT = np.array([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]])
Logits = Callable[[list[int]], Array]


def logits_by_last(table: Array) -> Logits:
    with np.errstate(divide="ignore"):
        logs = np.log(table)
    return lambda tokens: np.asarray(logs[tokens[-1]])


def random_pair(seed: int, size: int = 5, change: float = 0.6) -> tuple[Logits, Logits]:
    """The logits of a target and of a draft that depend on all tokens and their order."""
    rng = np.random.default_rng(seed)
    embed, head, other = rng.standard_normal((3, size, 4))

    def with_head(last: Array) -> Logits:
        def logits(tokens: list[int]) -> Array:
            state = np.zeros(4)
            for token in tokens[-10:]:
                state = np.tanh(np.roll(state, 1) / 2 + embed[token])
            return np.asarray(last @ state)

        return logits

    return with_head(head), with_head(head + change * other)


@each("pair", [THREE, FOUR, (np.array([0.0, 1.0]), np.array([0.5, 0.5])), (THREE[1], THREE[1])])
def test_what_verify_returns_has_the_law_of_the_target_exactly(
    program: Program, driver: Program, pair: tuple[Array, Array]
) -> None:
    p, q = pair
    kept, replaced = driver.law(program, p, q, 16)
    assert_close(kept + replaced, p, 1e-14)
    assert_close(kept, np.minimum(p, q), 1e-14)


def test_limits_that_are_not_on_a_grid(program: Program) -> None:
    """Kept just below min(1, p / q), and replaced as exact shares of the surplus ask for."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        p, q = (np.array([int(n) for n in rng.integers(1, 99, 6)]) for _ in range(2))
        exact = [[Fraction(int(n), int(a.sum())) for n in a] for a in (p, q)]
        surplus: list[Fraction] = [max(a - b, Fraction(0)) for a, b in zip(*exact, strict=True)]
        ends = list(itertools.accumulate(n / sum(surplus) for n in surplus))
        given = p / p.sum(), q / q.sum()
        for token in range(6):
            limit = min(float(exact[0][token] / exact[1][token]), 1.0)
            assert program.verify(*given, token, (limit - 1e-9, 0.5)) == (token, True)
            if limit == 1:
                continue
            for u in rng.random(3):
                wanted = next(i for i, end in enumerate(ends) if end > u)
                assert program.verify(*given, token, (limit + 1e-9, u)) == (wanted, False)


def test_three_tokens_are_distributed_as_the_targets_own(program: Program) -> None:
    """All 4^5 numbers of a step with k = 2; what is missing of three tokens adds the target."""
    middles = (np.arange(4) + 0.5) / 4
    text, found, lengths = [0], np.zeros((3, 3, 3)), np.zeros(4)
    for u in itertools.product(middles, repeat=5):
        target, draft = (serving.Model(logits_by_last(t)) for t in (TARGET, DRAFT))
        new = [int(t) for t in program.step(target, draft, list(text), 2, np.array(u))]
        lengths[len(new)] += 1 / 4**5
        for rest in itertools.product(range(3), repeat=3 - len(new)):
            chain = [*new, *rest]
            share = [TARGET[a, b] for a, b in itertools.pairwise(chain[len(new) - 1 :])]
            found[tuple(chain)] += np.prod(share) / 4**5
    wanted = np.einsum("a,ab,bc->abc", TARGET[0], TARGET, TARGET)
    assert_close(found, wanted, 1e-12)
    # .75 of proposals are kept after token 0; what follows depends on which one was.
    kept = np.minimum(TARGET, DRAFT)
    both = sum(kept[0, t] * kept[t].sum() for t in range(3))
    assert_close(lengths, np.array([0, 1 - kept[0].sum(), kept[0].sum() - both, both]), 1e-12)


def own_steps(
    logits: tuple[Logits, Logits], text: list[int], k: int, u: Array, top_p: float
) -> Any:
    """A step of plain Python, without caches and without the given module's models."""

    def law(of: Logits, tokens: list[int]) -> list[float]:
        e = np.exp(of(tokens))
        left: dict[int, float] = {}
        for i in sorted(range(len(e)), key=lambda i: -e[i]):
            if sum(left.values()) < top_p:
                left[i] = float(e[i] / e.sum())
        return [left.get(i, 0.0) / sum(left.values()) for i in range(len(e))]

    def inverse(p: list[float], u: float) -> int:
        return next(i for i, total in enumerate(itertools.accumulate(p)) if total > u)

    line = list(text)
    for i in range(k):
        line.append(inverse(law(logits[1], line), u[i]))
    for i in range(k):
        before, token = line[: len(text) + i], line[len(text) + i]
        p, q = law(logits[0], before), law(logits[1], before)
        if u[k + i] >= p[token] / q[token]:
            rest = [max(a - b, 0.0) for a, b in zip(p, q, strict=True)]
            return [*before[len(text) :], inverse([r / sum(rest) for r in rest], u[2 * k])]
    return [*line[len(text) :], inverse(law(logits[0], line), u[2 * k])]


@each(("k", "top_p", "change"), [(3, 1.0, 0.8), (1, 1.0, 2.0), (5, 0.8, 0.4), (3, 0.6, 1.0)])
def test_tokens_are_those_of_a_step_without_caches(
    program: Program, k: int, top_p: float, change: float
) -> None:
    logits = random_pair(k, change=change)
    target, draft = (serving.Model(of) for of in logits)
    text = [1, 0, 3]
    target.extend(text[:-1])
    kept, lengths = 0, []
    for u in np.random.default_rng(k).random((25, 2 * k + 1)):
        new = list(program.step(target, draft, list(text), k, u, top_p))
        assert new == own_steps(logits, text, k, u, top_p)
        text += new
        assert target.tokens == text[:-1]
        assert draft.tokens == text[: len(draft.tokens)]
        assert len(text) - len(draft.tokens) <= 2
        lengths.append(len(new))
    kept = sum(lengths) - len(lengths)
    assert kept > 0
    assert min(lengths) < max(lengths)


def test_a_plan_is_the_sum_over_what_can_happen(program: Program) -> None:
    for k, cost, seed in [(1, 0.5, 1), (4, 0.1, 2), (7, 0.03, 3), (3, 0, 4)]:
        p, q = np.random.default_rng(seed).integers(1, 9, (2, 6)) / 1.0
        p, q = p / p.sum(), q / q.sum()
        alpha = Fraction(0)
        for a, b in zip(p, q, strict=True):
            alpha += Fraction(float(min(a, b)))
        mean = sum(Fraction(n + 1) * alpha**n * (1 - alpha if n < k else 1) for n in range(k + 1))
        found = program.plan(p, q, k, cost)
        assert float(found["alpha"]) == pytest.approx(float(alpha))
        assert float(found["tokens"]) == pytest.approx(float(mean))
        assert float(found["speedup"]) == pytest.approx(float(mean) / (1 + k * cost))
        again = program.plan(p, q, k, found["break_even"])
        assert float(again["speedup"]) == pytest.approx(1)


# What is given, and what the text says.


def test_the_given_probabilities_are_those_of_torch_filtered() -> None:
    logits = np.random.default_rng(2).standard_normal((4, 7))
    wanted = torch.softmax(torch.tensor(logits), -1).numpy()
    assert_close(serving.probs(logits), wanted, 1e-14)
    assert_close(serving.probs(logits[1]), wanted[1], 1e-14)
    filtered = serving.probs(logits, 0.7)
    for row, whole in zip(filtered, wanted, strict=True):
        left = row > 0
        assert whole[left].sum() >= 0.7 > whole[left].sum() - whole[left].min()
        assert whole[~left].max() < whole[left].min()
        assert_close(row[left], whole[left] / whole[left].sum(), 1e-14)


def test_a_draw_is_possible_where_the_total_falls_short() -> None:
    p = np.array([0.1] * 10 + [0.0])
    assert np.cumsum(p)[-1] < 1 - 2**-53 + 2**-54  # rounded below 1
    assert serving.draw(p, 1 - 2**-53) == 9
    assert serving.draw(np.array([0.0, 1.0]), 0.0) == 1


def test_at_temperature_0_the_starter_writes_the_targets_own_text(starter: Program) -> None:
    sharp = [lambda tokens, of=of: 1e4 * of(tokens) for of in random_pair(17, change=1.5)]
    target, draft = (serving.Model(of) for of in sharp)
    text, k = [1], 3
    for u in np.random.default_rng(4).random((40, 2 * k + 1)):
        text += starter.step(target, draft, text, k, u)
    greedy = [1]
    while len(greedy) < len(text):
        greedy.append(int(sharp[0](greedy).argmax()))
    assert text == greedy
    assert len(text) < 1 + 40 * k  # some proposals were turned down


def test_the_starter_keeps_every_proposal_of_the_target_itself(starter: Program) -> None:
    of = random_pair(8)[0]
    target, draft = serving.Model(of), serving.Model(of)
    text = [0]
    for u in np.random.default_rng(5).random((40, 7)):
        text += starter.step(target, draft, text, 3, u)
    assert len(text) == 1 + 120


def test_the_starters_law_is_wrong_by_what_the_feedback_says(
    starter: Program, reference: Program, driver: Program
) -> None:
    kept, replaced = driver.law(starter, *THREE, 8)
    assert_close(kept + replaced, np.array([5, 5, 6]) / 16, 1e-14)
    assert kept.sum() == driver.law(reference, *THREE, 8)[0].sum() == 0.75
    assert driver.law(variant("sampler-match"), *THREE, 8)[0].sum() == 0.3125


def test_with_a_weaker_draft_the_starter_is_further_off(starter: Program) -> None:
    rng = np.random.default_rng(6)
    logits, other = rng.standard_normal((2, 12))
    p, off = serving.probs(logits), []
    for change in (0.0, 0.5, 1.0, 2.0):
        q = serving.probs(logits + change * other)
        # Exactly what comes out: min(p, q), and p for what is turned down.
        law = np.minimum(p, q) + p * (1 - np.minimum(p, q).sum())
        off.append(np.abs(law - p).sum())
    assert off == sorted(off)
    assert off[0] < 1e-12
    assert off[3] > 0.1


def test_a_draft_that_lags_behind_leaves_the_law_alone_and_is_kept_less() -> None:
    """The follow-up: the same enumeration, with a draft that has missed a token."""
    lagging = variant("draft-not-caught-up")
    middles, laws = (np.arange(4) + 0.5) / 4, np.zeros(3)
    for u in itertools.product(middles, repeat=3):
        target, draft = (serving.Model(logits_by_last(t)) for t in (TARGET, DRAFT))
        target.extend([0])
        text = [0, 1]  # and the draft has seen neither
        new = lagging.step(target, draft, text, 1, np.array(u))
        laws[new[0]] += 1 / 4**3
    assert_close(laws, TARGET[1], 1e-14)
    reference, lengths = load(Path(__file__).with_name("reference.py")), []
    for one, seed in itertools.product((reference, lagging), range(8)):
        target, draft = (serving.Model(of) for of in random_pair(seed, change=0.2))
        text = [0]
        for u in np.random.default_rng(seed).random((100, 7)):
            text += one.step(target, draft, list(text), 3, u)
        lengths.append(len(text) / 100)
    assert sum(lengths[8:]) < 0.95 * sum(lengths[:8])


def test_the_figures_of_the_follow_ups(reference: Program) -> None:
    p, q = FOUR
    two = np.array([0, 1 / 3, 0, 2 / 3])
    assert np.minimum(p, q).sum() == 0.5
    assert np.minimum(p, two).sum() == 0.25
    # A draft that is uniform over five tokens: alpha is .8 where p leaves one of them out.
    p, q = np.array([0.25] * 4 + [0.0]), np.full(5, 0.2)

    def speedup(k: int, cost: float) -> float:
        return round(float(reference.plan(p, q, k, cost)["speedup"]), 2)

    assert [speedup(k, 0.2) for k in (2, 4, 8)] == [1.74, 1.87, 1.66]
    assert speedup(8, 0.05) == 3.09
    worth = [sum(0.6**i for i in range(k + 1)) / (1 + 0.7 * k) for k in range(1, 50)]
    assert max(worth) < 1
