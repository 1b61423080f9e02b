"""Saved on Windows: a byte-order mark and CRLF line ends; accumulates dx path by path."""

import torch
import torch.nn.functional as F


class SwiGLU(torch.autograd.Function):
    """Résumé: keep the inputs, rebuild the rest."""

    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        ctx.save_for_backward(x, w_gate, w_up, w_down)
        return (F.silu(x @ w_gate.t()) * (x @ w_up.t())) @ w_down.t()

    @staticmethod
    def backward(ctx, grad_y):
        x, w_gate, w_up, w_down = ctx.saved_tensors
        rows, dy = x.reshape(-1, x.shape[-1]), grad_y.reshape(-1, x.shape[-1])
        g, u = rows @ w_gate.t(), rows @ w_up.t()
        s, dh = F.silu(g), dy @ w_down
        dw_down = dy.t() @ (s * u)
        du = dh * s
        dx, dw_up = du @ w_up, du.t() @ rows
        del du, s
        sig = torch.sigmoid(g)
        dg = dh * u * sig * (1 + g * (1 - sig))
        dx += dg @ w_gate
        return dx.reshape(x.shape), dg.t() @ rows, dw_up, dw_down


def swiglu_mlp(x, w_gate, w_up, w_down):
    return SwiGLU.apply(x, w_gate, w_up, w_down)
