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
