"""The SwiGLU starter: what its author shows, what the stack shows, and what a grade makes of it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from tests.harness import ROOT, load

STARTER = ROOT / "drills" / "vram-bottleneck" / "starter.py"

Block = Callable[..., Tensor]


def plain(x: Tensor, w_gate: Tensor, w_up: Tensor, w_down: Tensor) -> Tensor:
    return (F.silu(x @ w_gate.t()) * (x @ w_up.t())) @ w_down.t()


def drawn(*shape: int, scale: float = 1.0, seed: int = 0) -> Tensor:
    random = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=random, dtype=torch.float64) * scale


def trained(block: Block, blocks: int, steps: int) -> list[float]:
    """The losses of a residual stack that is trained by Adam on fixed data."""
    width, hidden = 16, 56
    x, target = drawn(64, width, seed=1), drawn(64, width, seed=2)
    layers = [
        [
            drawn(hidden, width, scale=width**-0.5, seed=10 * i + 3).requires_grad_(),
            drawn(hidden, width, scale=width**-0.5, seed=10 * i + 4).requires_grad_(),
            drawn(width, hidden, scale=hidden**-0.5, seed=10 * i + 5).requires_grad_(),
        ]
        for i in range(blocks)
    ]
    optimizer = torch.optim.Adam([w for layer in layers for w in layer], lr=3e-3)
    losses = []
    for _ in range(steps):
        out = x
        for layer in layers:
            out = out + block(out, *layer)
        loss = (out - target).square().mean()
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        losses.append(loss.item())
    return losses


def test_the_report_lists_the_four_inputs_and_nothing_else() -> None:
    shapes = []

    def pack(t: Tensor) -> Tensor:
        shapes.append(tuple(t.shape))
        return t

    given = [drawn(*shape).requires_grad_() for shape in ((48, 6), (21, 6), (21, 6), (6, 21))]
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        load(STARTER).swiglu_mlp(*given)
    assert shapes == [tuple(t.shape) for t in given]


def test_a_single_block_on_fixed_data_trains_as_plain_autograd_does() -> None:
    mine, theirs = (trained(block, 1, 40) for block in (load(STARTER).swiglu_mlp, plain))
    assert mine == pytest.approx(theirs, rel=1e-9)
    assert mine[-1] < 0.9 * mine[0]


def test_the_loss_of_a_stack_stays_above_that_of_plain_autograd() -> None:
    mine, theirs = (trained(block, 8, 60) for block in (load(STARTER).swiglu_mlp, plain))
    assert mine[0] == pytest.approx(theirs[0], rel=1e-12)
    assert mine[-1] > 1.2 * theirs[-1]


def test_weight_gradients_of_one_block_are_right_and_that_of_x_is_one_path() -> None:
    given = [drawn(*s, seed=i) for i, s in enumerate([(9, 4), (7, 4), (7, 4), (4, 7)])]
    grad_y = drawn(9, 4, seed=9)

    def gradients(block: Block, *, up_from: Tensor) -> tuple[Tensor, ...]:
        inputs = [t.clone().requires_grad_() for t in given]
        x = inputs[0]
        return torch.autograd.grad(block(*inputs) + 0 * (x - up_from).sum(), inputs, grad_y)

    mine = gradients(load(STARTER).swiglu_mlp, up_from=given[0])
    theirs = gradients(plain, up_from=given[0])
    for got, expected in zip(mine[1:], theirs[1:], strict=True):
        torch.testing.assert_close(got, expected, rtol=1e-12, atol=1e-12)
    x, w_gate, w_up, w_down = given
    alone = x.clone().requires_grad_()
    gate_alone = F.silu(alone @ w_gate.t()) * (x @ w_up.t()) @ w_down.t()  # u does not follow x
    (through_gate,) = torch.autograd.grad(gate_alone, alone, grad_y)
    torch.testing.assert_close(mine[0], through_gate, rtol=1e-12, atol=1e-12)
    assert (mine[0] - theirs[0]).norm() > 0.1 * theirs[0].norm()
