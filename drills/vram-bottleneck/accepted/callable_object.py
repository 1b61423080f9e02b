"""The block is an instance with a __call__, and a dataclass carries the rebuilt activations."""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Hidden:
    """What backward rebuilds from x: all (N, F)."""

    gate: Tensor
    up: Tensor

    @classmethod
    def of(cls, x, w_gate, w_up):
        return cls(x @ w_gate.mT, x @ w_up.mT)

    @property
    def silu(self):
        return self.gate * torch.sigmoid(self.gate)

    @property
    def slope(self):
        sig = torch.sigmoid(self.gate)
        return sig * (1 + self.gate * (1 - sig))


class Node(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        ctx.save_for_backward(x, w_gate, w_up, w_down)
        h = Hidden.of(x, w_gate, w_up)
        return (h.silu * h.up) @ w_down.mT

    @staticmethod
    def backward(ctx, grad_y):
        x, w_gate, w_up, w_down = ctx.saved_tensors
        rows, dy = (t.reshape(-1, t.shape[-1]) for t in (x, grad_y))
        h = Hidden.of(rows, w_gate, w_up)
        back = dy @ w_down
        dg, du = back * h.up * h.slope, back * h.silu
        dx = (dg @ w_gate + du @ w_up).reshape(x.shape)
        return dx, dg.mT @ rows, du.mT @ rows, dy.mT @ (h.silu * h.up)


class SwiGLU:
    def __init__(self, node):
        self.node = node

    def __call__(self, x, w_gate, w_up, w_down):
        return self.node.apply(x, w_gate, w_up, w_down)


swiglu_mlp = SwiGLU(Node)


def kernels(rows, width, hidden, plan):
    """Yield (is a product, elements, FLOPs) of every kernel of a step."""
    n, d, f = rows, width, hidden
    matmul = (True, n * d + d * f + n * f, 2 * n * d * f)
    wide = n * f
    for _ in range(11 if plan.startswith("rebuild") else 9):
        yield matmul
    if plan == "rebuild_fused":
        yield False, 3 * wide, 0  # g, u -> h
        yield False, 6 * wide, 0  # g, u, dh -> h, du, dg
    else:
        for _ in range(2 if plan == "rebuild" else 1):
            yield False, 2 * wide, 0  # s
            yield False, 3 * wide, 0  # h
        for _ in ("ds", "du", "dg"):
            yield False, 3 * wide, 0
    yield False, 3 * n * d, 0  # dx


def step_cost(rows, width, hidden, itemsize, plan):
    cost = dict.fromkeys(("flops", "matmul_bytes", "elementwise_bytes"), 0)
    for product, elements, flops in kernels(rows, width, hidden, plan):
        cost["matmul_bytes" if product else "elementwise_bytes"] += elements * itemsize
        cost["flops"] += flops
    cost["kept_bytes"] = rows * (width + (4 * hidden if plan == "autograd" else 0)) * itemsize
    return cost


def step_seconds(rows, width, hidden, itemsize, plan, bytes_per_second, flops_per_second):
    seconds = 0.0
    for _, elements, flops in kernels(rows, width, hidden, plan):
        seconds += max(elements * itemsize / bytes_per_second, flops / flops_per_second)
    return seconds
