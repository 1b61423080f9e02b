"""A SwiGLU block whose backward needs nothing from the forward but its own inputs.

    g = x Wg^T,  u = x Wu^T,  h = silu(g) * u,  y = h Wd^T

Autograd would keep x, g, silu(g), u and h: 1 + 4 F / D times the bytes of x.  Of these only x
cannot be rebuilt, and it is the caller's anyway.  The backward rebuilds g and u with two matmuls;
everything else of width F follows element by element, and y is never needed.  A step costs 11
matmuls of 2 N D F FLOPs instead of 9: 1.222 times.  `step_cost` counts the bytes that this moves.

Source: Shazeer, "GLU Variants Improve Transformer", arXiv:2002.05202, section 2, for the block;
Chen, Xu, Zhang and Guestrin, "Training Deep Nets with Sublinear Memory Cost", arXiv:1604.06174,
for dropping what is cheap to recompute.
"""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import FunctionCtx


def projections(x: Tensor, w_gate: Tensor, w_up: Tensor) -> tuple[Tensor, Tensor]:
    """Return the pre-activations g and u, both (..., F), of x (..., D)."""
    return x @ w_gate.t(), x @ w_up.t()


def silu_slope(g: Tensor) -> Tensor:
    """Return d silu(g) / dg = sigmoid(g) (1 + g (1 - sigmoid(g))), shaped like g."""
    gate = torch.sigmoid(g)
    return gate * (1 + g * (1 - gate))


def input_gradient(dg: Tensor, du: Tensor, w_gate: Tensor, w_up: Tensor) -> Tensor:
    """Return dx (N, D) from dg and du, both (N, F): x reaches the loss by two paths, which add."""
    return dg @ w_gate + du @ w_up


class SwiGLUFn(torch.autograd.Function):
    """The block as one node of the graph."""

    @staticmethod
    def forward(
        ctx: FunctionCtx, x: Tensor, w_gate: Tensor, w_up: Tensor, w_down: Tensor
    ) -> Tensor:
        """Return y (..., D) and keep the inputs, which are alive in any case."""
        ctx.save_for_backward(x, w_gate, w_up, w_down)
        g, u = projections(x, w_gate, w_up)
        return (F.silu(g) * u) @ w_down.t()

    @staticmethod
    def backward(ctx: FunctionCtx, grad_y: Tensor) -> tuple[Tensor | None, ...]:
        """Return dx, dw_gate, dw_up, dw_down; None where autograd does not ask for one."""
        x, w_gate, w_up, w_down = ctx.saved_tensors
        wants_x, wants_gate, wants_up, wants_down = ctx.needs_input_grad
        # reshape, not view: either may come with any strides (an expanded sum, a transpose).
        rows = x.reshape(-1, x.shape[-1])
        dy = grad_y.reshape(-1, grad_y.shape[-1])

        g, u = projections(rows, w_gate, w_up)
        s = F.silu(g)
        dw_down = dy.t() @ (s * u) if wants_down else None
        dh = dy @ w_down
        du = dh * s
        dg = dh * u * silu_slope(g)
        dx = input_gradient(dg, du, w_gate, w_up).reshape(x.shape) if wants_x else None
        dw_gate = dg.t() @ rows if wants_gate else None
        dw_up = du.t() @ rows if wants_up else None
        return dx, dw_gate, dw_up, dw_down


def swiglu_mlp(x: Tensor, w_gate: Tensor, w_up: Tensor, w_down: Tensor) -> Tensor:
    """Return (silu(x w_gate^T) * (x w_up^T)) w_down^T, keeping only the inputs for backward.

    Args:
        x: (..., D) with any number of leading dimensions, none included; float64, float32 or
            bfloat16; any strides.
        w_gate: (F, D), dtype of x.
        w_up: (F, D), dtype of x.
        w_down: (D, F), dtype of x.

    Returns:
        y: shape and dtype of x.
    """
    return SwiGLUFn.apply(x, w_gate, w_up, w_down)


class Operation(NamedTuple):
    """One kernel of a step: what it is, the elements that it reads and writes, and its FLOPs."""

    kind: str
    read: int
    written: int
    flops: int

    def bytes(self, itemsize: int) -> int:
        """Return the bytes that move between the kernel and the card's memory."""
        return (self.read + self.written) * itemsize


def product(m: int, k: int, n: int) -> Operation:
    """Return the product of (m, k) and (k, n)."""
    return Operation("matmul", m * k + k * n, m * n, 2 * m * k * n)


def elementwise(read: int, written: int, elements: int) -> Operation:
    """Return a kernel that reads and writes so many tensors of so many elements."""
    return Operation("elementwise", read * elements, written * elements, 0)


def operations(rows: int, width: int, hidden: int, plan: str) -> list[Operation]:
    """Return all kernels of a step, forward and backward, in no particular order."""
    fused, rebuilt = plan == "rebuild_fused", plan != "autograd"
    count = rows * hidden
    project = [product(rows, width, hidden)] * 2  # g, u
    s_and_h = [elementwise(1, 1, count), elementwise(2, 1, count)]
    forward = project + ([elementwise(2, 1, count)] if fused else s_and_h)  # fused: g, u -> h
    forward.append(product(rows, hidden, width))  # y
    again = (project if rebuilt else []) + (s_and_h if rebuilt and not fused else [])
    # Fused: g, u, dh -> h, du, dg.  Else ds, du and dg, each of two tensors.
    slopes = [elementwise(3, 3, count)] if fused else [elementwise(2, 1, count)] * 3
    backward = [product(rows, width, hidden), product(width, rows, hidden)]  # dh, dWd
    backward += [product(rows, hidden, width)] * 2 + [product(hidden, rows, width)] * 2
    return [*forward, *again, *slopes, *backward, elementwise(2, 1, rows * width)]  # dx = a + b


def kept_elements(rows: int, width: int, hidden: int, plan: str) -> int:
    """Return what waits for backward besides y and the weights: x, with autograd g, u, s, h too."""
    return rows * width + (4 * rows * hidden if plan == "autograd" else 0)


def step_cost(rows: int, width: int, hidden: int, itemsize: int, plan: str) -> dict[str, int]:
    """Return the FLOPs of a step, the bytes that its kernels move, and the bytes kept.

    Args:
        rows: N.
        width: D.
        hidden: F.
        itemsize: bytes of an element.
        plan: "autograd", "rebuild" or "rebuild_fused".
    """
    step = operations(rows, width, hidden, plan)
    moved = {"matmul": 0, "elementwise": 0}
    for operation in step:
        moved[operation.kind] += operation.bytes(itemsize)
    return {
        "flops": sum(operation.flops for operation in step),
        "matmul_bytes": moved["matmul"],
        "elementwise_bytes": moved["elementwise"],
        "kept_bytes": kept_elements(rows, width, hidden, plan) * itemsize,
    }


def step_seconds(
    rows: int,
    width: int,
    hidden: int,
    itemsize: int,
    plan: str,
    bytes_per_second: float,
    flops_per_second: float,
) -> float:
    """Return the time of a step whose kernels run one after another, each at the nearer limit."""
    return sum(
        max(operation.bytes(itemsize) / bytes_per_second, operation.flops / flops_per_second)
        for operation in operations(rows, width, hidden, plan)
    )
