"""The reversible stack against torch's autograd in float64, which keeps everything.

The figures that prompts and follow-ups quote are at the end.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.harness import Array, Program, assert_close, by_autograd, each, load, normal, variants

variant = variants(__file__)
CLOSE = 1e-11
# n, N, D and H
SIZES = [(1, 4, 3, 2), (3, 5, 2, 4), (8, 2, 4, 3), (1, 1, 1, 1)]


def drawn(seed: int, sizes: tuple[int, ...], last: float = 0.4) -> list[Array]:
    """x1, x2, a, b and the gradients that arrive; last multiplies b."""
    n, rows, d, h = sizes
    found = normal(seed, *[(rows, d)] * 2, (n, 2, d, h), (n, 2, h, d), *[(rows, d)] * 2)
    found[3] *= last
    return found


def stack(x1: Any, x2: Any, a: Any, b: Any) -> Any:
    """Both streams after all blocks, in torch."""
    for f, g, p, q in zip(a[:, 0], a[:, 1], b[:, 0], b[:, 1], strict=True):
        x1 = x1 + torch.tanh(x2 @ f) @ p
        x2 = x2 + torch.tanh(x1 @ g) @ q
    return torch.stack([x1, x2])


def oracle(inputs: list[Array]) -> list[Array]:
    """y1, y2 and the gradients of x1, x2, a and b."""
    streams, *grads = by_autograd(stack, *inputs[:4], grad_y=np.stack(inputs[4:]))
    return [*streams, *grads]


@each("sizes", SIZES)
def test_streams_and_gradients_are_those_of_torch(program: Program, sizes: tuple[int, ...]) -> None:
    inputs = drawn(1, sizes)
    x1, x2, a, b, grad_y1, grad_y2 = inputs
    y1, y2 = program.forward(x1, x2, a, b)
    grads = program.backward(grad_y1, grad_y2, y1, y2, a, b)
    assert_close([y1, y2, *grads], oracle(inputs), CLOSE, "float64", least=1)
    assert_close(list(program.reconstruct(y1, y2, a, b)), [x1, x2], CLOSE, "float64", least=1)


class Nearest(torch.autograd.Function):
    """Rounds to a grid, and hands gradients on."""

    @staticmethod
    def forward(ctx: Any, v: Any, grid: float) -> Any:  # noqa: ARG004
        return torch.round(v / grid) * grid

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:  # noqa: ARG004
        return grad, None


@each("grid", [0.5, 0.125, 2.0**-12])
def test_on_a_grid_everything_comes_back_and_rounding_hands_gradients_on(
    program: Program, grid: float
) -> None:
    x1, x2, a, b, grad_y1, grad_y2 = drawn(2, (6, 5, 3, 4))

    def rounded(x1: Any, x2: Any, a: Any, b: Any) -> Any:
        near: Callable[..., Any] = Nearest.apply
        x1, x2 = near(x1, grid), near(x2, grid)
        for f, g, p, q in zip(a[:, 0], a[:, 1], b[:, 0], b[:, 1], strict=True):
            x1 = x1 + near(torch.tanh(x2 @ f) @ p, grid)
            x2 = x2 + near(torch.tanh(x1 @ g) @ q, grid)
        return torch.stack([x1, x2])

    streams, *grads = by_autograd(rounded, x1, x2, a, b, grad_y=np.stack([grad_y1, grad_y2]))
    y1, y2 = program.forward(x1, x2, a, b, grid)
    found = program.backward(grad_y1, grad_y2, y1, y2, a, b, grid)
    assert_close([y1, y2, *found], [*streams, *grads], CLOSE, "float64", least=1)
    for again, x in zip(program.reconstruct(y1, y2, a, b, grid), (x1, x2), strict=True):
        np.testing.assert_array_equal(again, np.round(x / grid) * grid)


@each("n", [1, 64, 300])
def test_in_float32_everything_comes_back_to_the_last_bit(program: Program, n: int) -> None:
    x1, x2, a, b = (v.astype(np.float32) for v in drawn(3, (n, 4, 5, 3), 0.3)[:4])
    y = program.forward(x1, x2, a, b, 2.0**-6)
    for again, x in zip(program.reconstruct(*y, a, b, 2.0**-6), (x1, x2), strict=True):
        assert np.asarray(again).dtype == np.float32
        np.testing.assert_array_equal(again, np.round(x * 64) / 64)


# What the text says.


@each("n", [4, 64])
def test_what_the_colleague_compared_agrees_in_the_starter(
    reference: Program, starter: Program, n: int
) -> None:
    for last in (0.0, 0.4):
        x1, x2, a, b, grad_y1, grad_y2 = drawn(4, (n, 8, 4, 6), last)
        y1, y2 = starter.forward(x1, x2, a, b)
        if n == 4:  # in 64 blocks of such weights rounding grows
            back = starter.reconstruct(y1, y2, a, b)
            assert_close(list(back), [x1, x2], 1e-14, least=1)
        old = starter.backward(grad_y1, grad_y2, y1, y2, a, b)
        new = reference.backward(grad_y1, grad_y2, y1, y2, a, b)
        same = all(np.array_equal(p, q) for p, q in zip(old, new, strict=True))
        assert same == (last == 0)
        if last == 0:
            wanted = oracle([x1, x2, a, b, grad_y1, grad_y2])[2:]
            assert_close(list(old), wanted, 1e-15, least=1)


def test_at_initialization_only_the_last_weights_have_gradients(reference: Program) -> None:
    x1, x2, a, b, grad_y1, grad_y2 = drawn(5, (3, 6, 4, 5), 0.0)
    y1, y2 = reference.forward(x1, x2, a, b)
    _, _, grad_a, grad_b = reference.backward(grad_y1, grad_y2, y1, y2, a, b)
    assert not grad_a.any()
    assert (grad_b != 0).all()


def trained(program: Program, seed: int) -> float:
    """The mean loss of the last 20 of 400 steps of Adam, for four blocks that begin at zero."""
    rng = np.random.default_rng(seed)
    a, b = rng.standard_normal((4, 2, 4, 6)) / 2, np.zeros((4, 2, 6, 4))
    inputs = rng.standard_normal((512, 4))
    targets = 2 * np.sin(inputs @ rng.standard_normal((4, 4)))
    moments = [(p, np.zeros_like(p), np.zeros_like(p)) for p in (a, b)]
    losses = []
    for step in range(1, 401):
        rows = rng.integers(0, 512, 64)
        x = inputs[rows]
        y1, y2 = program.forward(x, x, a, b)
        off = y1 + y2 - targets[rows]
        losses.append(float((off**2).mean()))
        grad = 2 * off / off.size
        grads = program.backward(grad, grad, y1, y2, a, b)[2:]
        for (p, m, v), g in zip(moments, grads, strict=True):
            m += 0.1 * (g - m)
            v += 0.001 * (g**2 - v)
            p -= 0.01 * (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)
    return float(np.mean(losses[-20:]))


def test_the_runs_end_where_the_prompt_says(reference: Program, starter: Program) -> None:
    right, wrong = ([trained(p, seed) for seed in range(10)] for p in (reference, starter))
    assert [round(float(np.mean(losses)), 2) for losses in (right, wrong)] == [0.17, 0.28]


def test_half_precision_does_not_come_back() -> None:
    """The round trip of 64 blocks in torch's formats; their share of the inputs' norm."""

    def off(seed: int, dtype: torch.dtype) -> float:
        g = torch.Generator().manual_seed(seed)
        a, b, x = (
            (torch.randn(shape, generator=g, dtype=torch.float64) * scale).to(dtype)
            for shape, scale in (
                ((64, 2, 32, 32), 32**-0.5), ((64, 2, 32, 32), 32**-0.5), ((2, 64, 32), 1.0)
            )
        )  # fmt: skip
        x1, x2 = x
        for i in range(64):
            x1 = x1 + torch.tanh(x2 @ a[i, 0]) @ b[i, 0]
            x2 = x2 + torch.tanh(x1 @ a[i, 1]) @ b[i, 1]
        for i in reversed(range(64)):
            x2 = x2 - torch.tanh(x1 @ a[i, 1]) @ b[i, 1]
            x1 = x1 - torch.tanh(x2 @ a[i, 0]) @ b[i, 0]
        again = torch.stack([x1, x2]).double()
        return float((again - x.double()).norm() / x.double().norm())

    half, single = (np.mean([off(s, d) for s in range(3)]) for d in (torch.bfloat16, torch.float32))
    assert half == pytest.approx(1.8, abs=0.3)
    assert single == pytest.approx(7e-5, rel=0.5)


def test_the_numbers_of_clause_5() -> None:
    x, weights = 8 * 4096, 8 * 2 * 200 * 2
    assert 48 * x + 8 * weights == 1_624_064
    assert 200 * 2 * x == 13_107_200


def test_a_step_costs_a_third_more_or_two_thirds(
    reference: Program, starter: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In matrix products: `run` has two, `back` four."""
    import branch

    calls: list[int] = []
    for name, products in (("run", 2), ("back", 4)):
        right = getattr(branch, name)

        def counted(*args: Any, right: Any = right, products: int = products) -> Any:
            calls.append(products)
            return right(*args)

        monkeypatch.setattr(branch, name, counted)
    repaired = load(Path(__file__).with_name("repair.py"))
    for program, ratio in ((reference, 4 / 3), (repaired, 5 / 3), (starter, 5 / 3)):
        calls.clear()
        x1, x2, a, b, grad_y1, grad_y2 = drawn(6, (5, 3, 2, 4))
        y1, y2 = program.forward(x1, x2, a, b)
        program.backward(grad_y1, grad_y2, y1, y2, a, b)
        assert sum(calls) / (5 * 2 * (2 + 4)) == pytest.approx(ratio)


def test_sums_in_float32_end_where_the_follow_up_says() -> None:
    grid, end = np.float32(2.0**-10), np.float32(16384)
    assert (end - grid) + grid == end
    assert end + grid == end
    assert 2.0**24 * 2.0**-10 == 16384
    hint = np.float32(100000)
    assert (np.float32(0.125) + hint) - hint == 0.125
    assert (np.float32(0.1) + hint) - hint != np.float32(0.1)


def test_bfloat16_is_coarser_than_the_grid_above_a_quarter() -> None:
    for value, coarser in ((0.26, True), (0.24, False)):
        next_to_it = torch.nextafter(torch.tensor(value).bfloat16(), torch.tensor(1.0).bfloat16())
        assert (float(next_to_it - torch.tensor(value).bfloat16()) > 2.0**-10) == coarser


def test_rounding_down_loses_half_a_step_as_its_feedback_says(reference: Program) -> None:
    x = normal(7, (200, 50))[0]
    lost = {
        name: float((program.forward(x, x, *np.zeros((2, 1, 2, 50, 50)), 0.25)[0] - x).mean())
        for name, program in (("right", reference), ("down", variant("rounds-down")))
    }
    assert lost["right"] == pytest.approx(0, abs=0.003)
    assert 64 * lost["down"] / 0.25 == pytest.approx(-32, abs=1)
