"""The loss and the advantages of grpo-step, against torch in float64, token by token.

The oracle has no minimum and no clip: it says for each token in which of four cases it is, adds up
in a double loop, and has torch differentiate.
"""

from __future__ import annotations

import statistics
from typing import Any

import numpy as np
import pytest
import torch

from tests.harness import Array, Program, assert_close, by_autograd, each, variants

variant = variants(__file__)
CLOSE = 3e-8  # some add 1e-8 to a number of tokens
LOW, HIGH = 0.2, 0.28


def batch(
    seed: int, answers: int = 5, tokens: int = 6, spread: float = 1.5
) -> tuple[list[Array], Array]:
    """logp, old, ref and advantages, and a mask with an answer of no token."""
    rng = np.random.default_rng(seed)
    logp, old, ref = (rng.uniform(-1 - spread, -1, (answers, tokens)) for _ in range(3))
    mask = rng.random((answers, tokens)) < 0.6
    mask[1] = False
    mask[0, 0] = True
    return [logp, old, ref, rng.standard_normal(answers)], mask


def oracle(
    arrays: list[Array],
    mask: Array,
    mean: str = "answer",
    total: int | None = None,
    beta: float = 0.0,
) -> list[Array]:
    """The loss and its gradient with respect to logp."""
    logp, old, ref, advantages = arrays
    whole = total or (mask.sum() if mean == "token" else len(mask)) or 1

    def loss(now: torch.Tensor) -> torch.Tensor:
        found = 0 * now.sum()
        for n, row in enumerate(mask):
            for t in np.flatnonzero(row):
                r, a = torch.exp(now[n, t] - old[n, t]), advantages[n]
                if a > 0 and r > 1 + HIGH:
                    gain = torch.tensor((1 + HIGH) * a)
                elif a < 0 and r < 1 - LOW:
                    gain = torch.tensor((1 - LOW) * a)
                else:
                    gain = r * a
                odds = torch.exp(ref[n, t] - now[n, t])
                cost = beta * (odds - 1 - torch.log(odds))
                found = found + (cost - gain) / (1 if mean == "token" else row.sum()) / whole
        return found

    return by_autograd(loss, logp)


def found(
    program: Program, arrays: list[Array], mask: Array, *choices: Any, beta: float = 0.0
) -> list[Any]:
    logp, old, ref, advantages = arrays
    more = (*(choices or ("answer",)), None)[:2]
    return list(program.policy_loss(logp, old, advantages, mask, LOW, HIGH, *more, ref, beta))


@each("mean", ["answer", "token"])
@each("total", [None, 17])
@each("beta", [0.0, 0.7])
def test_loss_and_gradient_are_those_of_the_four_cases(
    program: Program, mean: str, total: int | None, beta: float
) -> None:
    for seed in range(3):
        arrays, mask = batch(seed)
        mine = found(program, arrays, mask, mean, total, beta=beta)
        assert_close(mine, oracle(arrays, mask, mean, total, beta), CLOSE)


def test_without_more_arguments_it_is_the_mean_over_answers(program: Program) -> None:
    (logp, old, ref, advantages), mask = batch(4)
    mine = program.policy_loss(logp, old, advantages, mask, LOW, HIGH)
    assert_close(list(mine), oracle([logp, old, ref, advantages], mask), CLOSE)


@each("mean", ["answer", "token"])
def test_micro_batches_add_up_to_the_batch(program: Program, mean: str) -> None:
    arrays, mask = batch(5, answers=6)
    whole = found(program, arrays, mask, mean, beta=0.3)
    total = int(mask.sum()) if mean == "token" else 6
    cuts = [slice(0, 1), slice(1, 4), slice(4, 6)]
    parts = [
        found(program, [a[cut] for a in arrays], mask[cut], mean, total, beta=0.3) for cut in cuts
    ]
    losses, grads = zip(*parts, strict=True)
    assert_close([sum(losses), np.concatenate(grads)], whole, CLOSE)


def test_what_stands_outside_of_the_mask_is_never_looked_at(program: Program) -> None:
    arrays, mask = batch(6)
    wanted = oracle(arrays, mask, beta=0.5)
    rng = np.random.default_rng(7)
    for array in arrays[:3]:
        array[~mask] = rng.choice([np.nan, np.inf, -np.inf], (~mask).sum())
    with np.errstate(invalid="raise"):
        assert_close(found(program, arrays, mask, beta=0.5), wanted, CLOSE)


@each("group", [1, 3, 6])
def test_advantages_are_those_of_the_statistics_module(program: Program, group: int) -> None:
    rewards = np.random.default_rng(8).standard_normal(18)
    wanted = []
    for first in range(0, 18, group):
        some = rewards[first : first + group].tolist()
        scale = statistics.pstdev(some) + 0.01
        wanted += [(r - statistics.fmean(some)) / scale for r in some]
    assert_close(program.group_advantages(rewards, group, 0.01), np.array(wanted), CLOSE, least=1)


def test_equal_rewards_have_no_advantages(program: Program) -> None:
    for reward in (0.1, 0.35, 0.7, -3.3, 10.0):
        for group in range(1, 17):
            rewards = np.full(2 * group, reward)
            assert np.abs(program.group_advantages(rewards, group, 1e-5)).max() < 1e-9


# What the text says.


def test_a_colleague_finds_nothing_on_the_first_step(starter: Program, reference: Program) -> None:
    for seed in range(5):
        (logp, _, _, advantages), _ = batch(seed)
        mask = np.tril(np.ones(logp.shape, bool))
        share = mask / mask.sum(1, keepdims=True) / len(mask)
        plain = -share * advantages[:, None]
        for program in (starter, reference):
            loss, grad = program.policy_loss(logp, logp.copy(), advantages, mask, LOW, HIGH)
            np.testing.assert_array_equal(grad, plain)  # not one bit
            assert loss == float((share * -advantages[:, None]).sum())


def four_steps(program: Program) -> Array:
    """How likely the first of three tokens becomes, over what it was: weights are shared.

    Both answers have one token, and a positive advantage; the second one's is larger.
    """
    logits, taken, advantages = np.zeros(3), np.array([0, 1]), np.array([1.0, 6.0])
    old = np.log(np.full((2, 1), 1 / 3))
    ratios = []
    for _ in range(6):
        p = np.exp(logits - np.log(np.exp(logits).sum()))
        logp = np.log(p[taken])[:, None]
        ratios.append(float(np.exp(logp - old)[0, 0]))
        grad = program.policy_loss(logp, old, advantages, np.ones((2, 1), bool), LOW, HIGH)[1]
        logits = logits - sum(
            g * (np.eye(3)[k] - p) for k, g in zip(taken, grad[:, 0], strict=True)
        )
    return np.array(ratios)


def test_a_token_that_became_much_rarer_stays_so(starter: Program, reference: Program) -> None:
    stuck, moves = four_steps(starter), four_steps(reference)
    assert stuck[0] == 1
    assert stuck[1] == moves[1] < 1 - LOW  # a step for the other answer has made it rarer
    assert len(set(stuck[1:])) == 1
    assert (np.diff(moves[1:]) > 0.005).all()


def test_two_estimates_of_one_divergence_have_other_gradients() -> None:
    """Samples of p, log-probabilities differentiated: by enumeration over five tokens."""
    rng = np.random.default_rng(9)
    z = torch.tensor(rng.standard_normal(5), requires_grad=True)
    log_q = torch.tensor(rng.standard_normal(5)).log_softmax(0)

    def gradient(value: torch.Tensor) -> Array:
        return torch.autograd.grad(value, z, retain_graph=True)[0].numpy()

    log_p = z.log_softmax(0)
    p, d = log_p.exp().detach(), log_q - log_p
    estimate = d.exp() - d - 1
    divergence = (p * -d).sum()
    assert (p * estimate).sum().item() == pytest.approx(divergence.item(), rel=1e-12)
    assert (estimate >= 0).all()
    backward = (log_q.exp() * d).sum()  # KL(q || p)
    np.testing.assert_allclose(gradient((p * estimate).sum()), gradient(backward), atol=1e-14)
    np.testing.assert_allclose(gradient((p * -d).sum()), 0, atol=1e-14)
    proper = gradient((log_p.exp() * -d).sum())  # KL(p || q)
    assert np.abs(proper - gradient(backward)).max() > 0.05


def test_of_tokens_of_an_earlier_policy_the_estimate_needs_the_ratio() -> None:
    rng = np.random.default_rng(10)
    z = torch.tensor(rng.standard_normal(5), requires_grad=True)
    log_old, log_q = (torch.tensor(rng.standard_normal(5)).log_softmax(0) for _ in range(2))
    log_p = z.log_softmax(0)
    old, d = log_old.exp(), log_q - log_p
    estimate = d.exp() - d - 1
    divergence = (log_p.exp() * -d).sum()  # KL(p || q)
    assert abs((old * estimate).sum() / divergence - 1) > 0.1
    ratio = (log_p - log_old).exp()
    weighted = (old * ratio * estimate).sum()
    assert weighted.item() == pytest.approx(divergence.item(), rel=1e-12)
    slopes = [torch.autograd.grad(one, z, retain_graph=True)[0] for one in (weighted, divergence)]
    np.testing.assert_allclose(slopes[0], slopes[1], atol=1e-14)
    by_token = torch.autograd.grad((ratio * estimate).sum(), log_p, retain_graph=True)[0]
    np.testing.assert_allclose(by_token, (-ratio * d).detach(), atol=1e-12)


def test_figures_of_feedback() -> None:
    rewards = np.full(7, 0.1)
    assert rewards.mean() != 0.1
    assert 1e-17 < abs(rewards.mean() - 0.1) < 2e-17
    guarded = variant("guards-against-zero").group_advantages(rewards, 7, 1e-4)
    np.testing.assert_allclose(np.abs(guarded), 1)
    with np.errstate(invalid="ignore"):
        squares = variant("variance-in-one-pass").group_advantages(np.full(7, 0.35), 7, 1e-4)
    assert np.isnan(squares).all()
    for border, width in ((0.8, -0.2), (1.2, 0.2)):
        assert round(100 * abs(np.exp(width) / border - 1)) == 2
    assert round(0.0001**0.5 / 0.0001) == 100
