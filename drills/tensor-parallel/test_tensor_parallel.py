"""The reference and every right solution of tensor-parallel, against torch on whole matrices.

The oracle knows no ranks: linear, rms_norm and cross_entropy of torch in float64, with autograd.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from tests.harness import Array, Program, assert_close, by_autograd, each, normal, variants

variant = variants(__file__)
CLOSE = 1e-12
SHARES = [[6], [2, 2, 2], [2, 4, 1], [1, 1], [1, 5, 3, 2]]
Whole = dict[str, Array]


def drawn(seed: int, hidden: int, tokens: int = 5, d: int = 4, e: int = 3) -> Whole:
    names = ["x", "w1", "b1", "w2", "b2", "grad_y"]
    shapes = [(tokens, d), (d, hidden), (hidden,), (hidden, e), (e,), (tokens, e)]
    return dict(zip(names, normal(seed, *shapes), strict=True))


def of_ranks(driver: Program, whole: Whole, shares: list[int]) -> list[list[Array]]:
    given = (whole[name] for name in ("x", "w1", "b1", "w2", "b2"))
    return list(driver.shards(None, *given, shares))


def block(x: torch.Tensor, *weights: torch.Tensor) -> torch.Tensor:
    w1, b1, w2, b2 = weights
    return F.linear(F.linear(x, w1.T, b1).relu(), w2.T, b2)


def oracle(whole: Whole) -> list[Array]:
    """Y and the gradients of x, w1, b1, w2 and b2."""
    return by_autograd(block, *list(whole.values())[:5], grad_y=whole["grad_y"])


@each("shares", SHARES)
def test_the_block_is_that_of_whole_matrices(
    program: Program, driver: Program, shares: list[int]
) -> None:
    whole = drawn(len(shares), sum(shares))
    mine = of_ranks(driver, whole, shares)
    all_reduce = driver.network(None, shares)
    y, grad_x, *of_shares, grad_b2 = oracle(whole)
    for y_r in program.mlp(*mine, all_reduce):
        assert_close(y_r, y, CLOSE)
    for y_r in driver.mlp_apart(program, *mine):
        assert_close(y_r, y, CLOSE)
    if len(shares) > 1:
        assert all_reduce.log == [y.size]
    if not hasattr(program, "mlp_backward"):
        return
    all_reduce.log.clear()
    grad_y = driver.everywhere(None, whole["grad_y"], shares)
    for found in (
        program.mlp_backward(grad_y, *mine, all_reduce),
        driver.mlp_backward_apart(program, grad_y, *mine),
    ):
        for one in found[0]:
            assert_close(one, grad_x, CLOSE)
        for parts, wanted, axis in zip(found[1:4], of_shares, (1, 0, 0), strict=True):
            assert_close(np.concatenate(parts, axis=axis), wanted, CLOSE)
        for one in found[4]:
            assert_close(one, grad_b2, CLOSE)
    assert sum(all_reduce.log) == grad_x.size


@each("counts", [[7], [2, 4, 1], [3, 4], [1, 1, 1, 4]])
def test_the_norm_has_the_gradients_of_all_rows(
    program: Program, driver: Program, counts: list[int]
) -> None:
    x, gain, grad_h = normal(2, (7, 5), (5,), (7, 5))

    def norm(x: torch.Tensor, gain: torch.Tensor) -> torch.Tensor:
        return F.rms_norm(x, (5,), gain, eps=1e-5)

    _, grad_x, grad_gain = by_autograd(norm, x, gain, grad_y=grad_h)
    given = [driver.everywhere(None, a, counts) for a in (grad_h, gain)]
    rows = driver.rows(None, x, counts)
    for found in (
        program.norm_backward(given[0], rows, given[1], driver.network(None, counts)),
        driver.norm_backward_apart(program, given[0], rows, given[1]),
    ):
        assert_close(np.concatenate(found[0]), grad_x, CLOSE)
        for one in found[1]:
            assert_close(one, grad_gain, CLOSE)


@each("tokens", [[9], [4, 5], [3, 3, 3], [2, 4, 3], [1, 5, 2, 1], [1] * 9])
@each("scale", [1.0, 1e4])
def test_the_loss_is_that_of_whole_rows(
    program: Program, driver: Program, tokens: list[int], scale: float
) -> None:
    (logits,) = normal(3, (6, 9))
    logits = logits * scale
    targets = np.array([0, 3, 4, 8, 2, 5])

    def loss(z: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(z, torch.tensor(targets))

    wanted, grad = by_autograd(loss, logits)
    z, t = driver.columns(None, logits, tokens), driver.everywhere(None, targets, tokens)
    all_reduce = driver.network(None, tokens)
    for found in (program.vocab_loss(z, t, all_reduce), driver.vocab_loss_apart(program, z, t)):
        assert found[0] == pytest.approx([float(wanted)] * len(tokens), rel=CLOSE)
        assert_close(np.hstack(found[1]), grad, CLOSE)
    assert len(all_reduce.log) <= 3
    assert sum(all_reduce.log) <= 18


@each(
    ("given", "wanted"),
    [
        ((12, 5, 3, 4), (960, 1280, 1280)),
        ((4096, 8192, 8, 2), (268_435_456, 469_762_048, 469_762_048)),
        ((5, 3, 1, 8), (480, 0, 0)),
    ],
)
def test_traffic_is_that_of_single_messages(
    program: Program, given: tuple[int, ...], wanted: tuple[int, ...]
) -> None:
    n, d, ranks, itemsize = given
    sent = 4 * 2 * (ranks - 1) * (n // ranks * d * itemsize)  # sums, ways, messages
    assert (sent, sent) == wanted[1:]
    found = program.traffic(*given)
    assert [found[k] for k in ("reduced", "sent", "sent_sp")] == pytest.approx(wanted)


# What the text says, and what the driver does.


def test_norms_are_right() -> None:
    norms: Any = importlib.import_module("norms")
    x, gain, grad = normal(4, (7, 5), (5,), (7, 5))

    def norm(x: torch.Tensor, gain: torch.Tensor) -> torch.Tensor:
        return F.rms_norm(x, (5,), gain, eps=1e-5)

    y, *grads = by_autograd(norm, x, gain, grad_y=grad)
    assert_close([norms.rms_norm(x, gain), *norms.rms_backward(grad, x, gain)], [y, *grads], CLOSE)


def test_the_starter_is_off_by_a_bias_for_each_rank_more(starter: Program, driver: Program) -> None:
    for shares in SHARES:
        whole = drawn(5, sum(shares))
        y, *_ = oracle(whole)
        mine = of_ranks(driver, whole, shares)
        found = starter.mlp(*mine, driver.network(None, shares))
        assert_close(found[0] - y, (len(shares) - 1) * (whole["b2"] + 0 * y), 1e-9, least=1)
        whole["b2"] = whole["b2"] * 0
        mine = of_ranks(driver, whole, shares)
        fresh = starter.mlp(*mine, driver.network(None, shares))
        assert_close(fresh[0], oracle(whole)[0], CLOSE)


def test_a_bias_in_shares_has_a_gradient_that_is_too_small_by_the_number_of_ranks() -> None:
    b2 = [torch.zeros(3, requires_grad=True) for _ in range(3)]
    total: torch.Tensor = sum((b / 3 for b in b2), torch.zeros(3))
    grads = torch.autograd.grad(total.sum(), b2)
    assert all(torch.allclose(3 * g, torch.ones(3)) for g in grads)


def test_ranks_that_look_at_each_other_are_right_only_in_one_process(driver: Program) -> None:
    whole = drawn(6, 7)
    mine = of_ranks(driver, whole, [2, 4, 1])
    wrong = variant("parts-added-without-asking")
    y = oracle(whole)[0]
    assert_close(wrong.mlp(*mine, driver.network(None, [2, 4, 1]))[0], y, CLOSE)
    assert np.abs(driver.mlp_apart(wrong, *mine)[0] - y).max() > 0.1


def test_bytes_and_seconds_of_the_follow_ups(reference: Program) -> None:
    layer = reference.traffic(4096, 8192, 8, 2)
    assert layer["sent"] == pytest.approx(470e6, rel=1e-3)
    assert layer["sent"] / 450e9 == pytest.approx(1.04e-3, rel=5e-3)
    assert 80 * layer["sent"] / 450e9 == pytest.approx(84e-3, rel=1e-2)
    assert round(4096 * 128_256 * 4 / 1e9, 1) == 2.1
    assert 3 * 4096 * 4 == 49_152
