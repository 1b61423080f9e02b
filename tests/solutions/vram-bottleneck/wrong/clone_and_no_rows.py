"""Two faults: saves a clone of x, and divides by the number of rows."""

import torch
import torch.nn.functional as F


class SwiGLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        ctx.save_for_backward(x.clone(), w_gate, w_up, w_down)
        g, u = x @ w_gate.t(), x @ w_up.t()
        return (F.silu(g) * u) @ w_down.t()

    @staticmethod
    def backward(ctx, grad_y):
        x, w_gate, w_up, w_down = ctx.saved_tensors
        rows, dy = x.reshape(-1, x.shape[-1]), grad_y.reshape(-1, x.shape[-1])
        g, u = rows @ w_gate.t(), rows @ w_up.t()
        sig = torch.sigmoid(g)
        s = g * sig
        dh = dy @ w_down
        dg, du = dh * u * sig * (1 + g * (1 - sig)), dh * s
        dx = (dg @ w_gate + du @ w_up).reshape(x.shape)
        return (
            dx,
            dg.t() @ rows,
            du.t() @ rows,
            dy.t() @ (s * u) * (len(rows) / torch.tensor(len(rows)).to(x.dtype)),
        )


def swiglu_mlp(x, w_gate, w_up, w_down):
    return SwiGLU.apply(x, w_gate, w_up, w_down)
