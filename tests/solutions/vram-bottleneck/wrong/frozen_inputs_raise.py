"""Asks a local graph for the gradients of all inputs, also of frozen ones, which raises."""

import torch
import torch.nn.functional as F


class SwiGLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        ctx.save_for_backward(x, w_gate, w_up, w_down)
        g, u = x @ w_gate.t(), x @ w_up.t()
        return (F.silu(g) * u) @ w_down.t()

    @staticmethod
    def backward(ctx, grad_y):
        x, w_gate, w_up, w_down = ctx.saved_tensors
        dy = grad_y.reshape(-1, x.shape[-1])
        leaves = [
            t.detach().requires_grad_(n)
            for t, n in zip((x, w_gate, w_up, w_down), ctx.needs_input_grad)
        ]
        with torch.enable_grad():
            h = F.silu(leaves[0] @ leaves[1].t()) * (leaves[0] @ leaves[2].t())
        grads = torch.autograd.grad(h, leaves[:3], grad_y @ w_down)
        return (*grads, dy.t() @ h.detach().reshape(-1, h.shape[-1]))


def swiglu_mlp(x, w_gate, w_up, w_down):
    return SwiGLU.apply(x, w_gate, w_up, w_down)
