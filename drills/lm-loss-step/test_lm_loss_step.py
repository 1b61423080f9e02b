"""The training step of a language model against torch's cross-entropy and autograd in float64.

torch has its own softmax, its own ignore_index and its own sums; pieces and machines are compared
with the one padded batch that they are cut from.
"""

from __future__ import annotations

import types
from typing import Any

import numpy as np
import pytest
import torch

from tests.harness import Array, Program, assert_close, by_autograd, each, variants

variant = variants(__file__)

# Differences of 2e-15 were the largest seen; anything near 1e-12 is another computation.
CLOSE = 1e-12
ENTROPY = float(-(5 / 6) * np.log(5 / 6) - (1 / 6) * np.log(1 / 30))  # of the driver's language


def batch(lengths: list[int], *, pad: int = 0, seed: int = 0, size: int = 7) -> Array:
    """Return rows of random tokens, none of them pad, filled up with pad."""
    rng = np.random.default_rng(seed)
    words = np.array([token for token in range(size) if token != pad])
    rows = np.full((len(lengths), max(lengths)), pad)
    for row, length in zip(rows, lengths, strict=True):
        row[:length] = rng.choice(words, length)
    return rows


def weights(seed: int = 0, width: int = 3, scale: float = 1.0) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    return scale * rng.standard_normal((7, width)), scale * rng.standard_normal((width, 7))


def together(pieces: list[Array], pad: int) -> Array:
    width = max(tokens.shape[1] for tokens in pieces)
    wide = [np.pad(t, ((0, 0), (0, width - t.shape[1])), constant_values=pad) for t in pieces]
    return np.concatenate(wide)


def oracle(e: Array, u: Array, tokens: Array, pad: int) -> list[Array]:
    text = torch.tensor(tokens)

    def loss(table: torch.Tensor, head: torch.Tensor) -> torch.Tensor:
        logits = (table[text[:, :-1]] @ head).flatten(0, 1)
        return torch.nn.functional.cross_entropy(logits, text[:, 1:].flatten(), ignore_index=pad)

    return by_autograd(loss, e, u)


BATCHES = [
    ([5, 5, 5], 0),
    ([6, 3, 2, 5], 0),
    ([6, 3, 5], 6),
    ([4, 1, 2], 3),  # a row in which nothing counts
    ([2], 0),  # one prediction
    ([40, 33], 2),  # more predictions than any chunk of ours
]
PIECES = [[5, 2], [3], [6, 6, 4]]  # 5, 2 and 13 counted predictions


def pieces_of(lengths: list[list[int]], pad: int) -> list[Array]:
    return [batch(of, pad=pad, seed=i) for i, of in enumerate(lengths)]


@each(("lengths", "pad"), BATCHES)
def test_every_right_solution_agrees_with_autograd(
    program: Program, lengths: list[int], pad: int
) -> None:
    e, u = weights()
    tokens = batch(lengths, pad=pad)
    found = program.loss_and_grad(e, u, tokens, pad)
    assert_close(found, oracle(e, u, tokens, pad), CLOSE)


@each("pad", [0, 6])
def test_every_right_step_is_that_of_one_batch(program: Program, pad: int) -> None:
    e, u = weights()
    pieces = pieces_of([*PIECES, [1, 1]], pad)
    loss, de, du = oracle(e, u, together(pieces, pad), pad)
    e_new, u_new, got = program.step(e, u, pieces, 0.3, pad=pad)
    assert_close((got, e_new, u_new), (loss, e - 0.3 * de, u - 0.3 * du), CLOSE)


def test_every_right_run_makes_a_step_of_each_group(program: Program) -> None:
    e, u = weights()
    pieces = pieces_of([*PIECES, [2, 2], [4, 1, 3], [8], [3, 2]], 0)
    e_new, u_new, losses = program.train(e, u, pieces, 0.3, 3)
    expected = []
    for group in (pieces[:3], pieces[3:6], pieces[6:]):
        loss, de, du = oracle(e, u, together(group, 0), 0)
        e, u = e - 0.3 * de, u - 0.3 * du
        expected.append(loss)
    assert_close((losses, e_new, u_new), (np.array(expected), e, u), CLOSE)


@each("lengths", [PIECES, [[5, 2], [1, 1], [6, 6, 4]]])
def test_every_right_average_over_machines_is_the_gradient_of_all(
    program: Program, driver: Program, lengths: list[list[int]]
) -> None:
    e, u = weights()
    ranks = pieces_of(lengths, 0)
    _, de, du = oracle(e, u, together(ranks, 0), 0)
    got_e, got_u = driver.all_reduce(program, e, u, ranks, 0)
    assert_close((got_e, got_u), (de, du), CLOSE)


def test_the_starter_passes_the_test_that_was_run(starter: Program) -> None:
    """Its gradient is that of its own loss, to eight digits, and the first loss is log V."""
    e, u = weights()
    tokens = batch([6, 3, 5, 6])
    _, de, _ = starter.loss_and_grad(e, u, tokens)
    moves = 1e-5 * np.eye(e.size).reshape(-1, *e.shape)
    above, below = (
        np.array([starter.loss_and_grad(e + sign * move, u, tokens)[0] for move in moves])
        for sign in (1, -1)
    )
    assert_close((above - below).reshape(e.shape) / 2e-5, de, 1e-8)
    e, u = weights(scale=0.01)
    assert starter.loss_and_grad(e, u, tokens)[0] == pytest.approx(np.log(7), abs=1e-3)


def test_what_is_said_of_the_old_file(starter: Program, driver: Program) -> None:
    """Its own loss falls to 1.1; the true one rises above 2.5, where guessing has 1.8."""
    rng = np.random.default_rng(3)
    e, u = weights(width=6, scale=0.1)
    own = []

    def watched(*arguments: Any) -> Any:
        result = starter.loss_and_grad(*arguments)
        own.append(result[0])
        return result

    program = types.SimpleNamespace(loss_and_grad=watched)
    true = np.array(driver.measured(program, e, u, rng.random((3200, 9)), 4.0, 16)) + ENTROPY
    assert own[0] == pytest.approx(np.log(7), abs=0.02)
    assert np.mean(own[-60:]) == pytest.approx(1.1, abs=0.06)
    ahead = np.array([25 / 36 + 5 / 900, *[2 * 5 / 6 / 30 + 4 / 900] * 5])
    assert ahead.sum() == pytest.approx(1.0)
    assert -(ahead * np.log(ahead)).sum() == pytest.approx(1.1, abs=0.03)
    assert true[-1] > 2.5 > np.log(6) > 1.79
    assert true[-1] > true[0]


def test_the_bar_of_the_curve_is_far_from_both_sides(
    reference: Program, starter: Program, driver: Program
) -> None:
    assert pytest.approx(0.719, abs=5e-4) == ENTROPY
    for seed in range(5):
        rng = np.random.default_rng(seed)
        e, u = weights(seed, width=6, scale=0.5)
        dice = rng.random((3200, 9))
        right, wrong = (driver.measured(p, e, u, dice, 4.0, 16)[-1] for p in (reference, starter))
        assert right < 0.015
        assert wrong > 1.7


def test_predicting_itself_falls_below_what_the_language_allows(driver: Program) -> None:
    program = variant("no-shift")
    e, u = weights(width=6, scale=0.1)
    text = driver._text(np.random.default_rng(0).random((16, 9)))
    for _ in range(200):
        loss, de, du = program.loss_and_grad(e, u, text)
        e, u = e - 4.0 * de, u - 4.0 * du
    assert loss < 0.02 < ENTROPY


def test_the_language_is_what_the_driver_says(driver: Program) -> None:
    text = driver._text(np.random.default_rng(0).random((4000, 9)))
    before, after = text[:, :-1], text[:, 1:]
    real = after != 0
    jumps = np.bincount((after - before)[real] % 6, minlength=6) / real.sum()
    assert np.abs(jumps - [1 / 30, 5 / 6, *[1 / 30] * 4]).max() < 0.01
    assert sorted(set((text != 0).sum(axis=1))) == [3, 5, 7, 9]
    assert ((text[:, 1:] == 0) | (text[:, :-1] != 0)).all()  # padding stands at the end


def test_the_example_by_hand(reference: Program) -> None:
    """After 1 the tokens have probabilities of 1/6, 1/3 and 1/2, after 2 of 1/3 each."""
    e = np.array([[0.0], [1.0], [0.0]])
    u = np.log([[1.0, 2.0, 3.0]])
    loss, de, du = reference.loss_and_grad(e, u, np.array([[1, 2, 1]]))
    assert loss == pytest.approx((np.log(2) + np.log(3)) / 2)
    p = np.array([1, 2, 3]) / 6
    assert du[0] == pytest.approx((p - [0, 0, 1]) / 2)
    assert de[1, 0] == pytest.approx(u[0] @ (p - [0, 0, 1]) / 2)
    assert de[2, 0] == pytest.approx(u[0] @ (np.full(3, 1 / 3) - [0, 1, 0]) / 2)
    assert de[0, 0] == 0
