"""Backward walks over chunks of rows, so that no temporary has more than 96 rows."""

import torch
import torch.nn.functional as F

CHUNK = 96


class ChunkedSwiGLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        ctx.save_for_backward(x, w_gate, w_up, w_down)
        y = x.new_empty(x.shape)
        rows, out = x.reshape(-1, x.shape[-1]), y.view(-1, x.shape[-1])
        for i in range(0, rows.shape[0], CHUNK):
            part = rows[i : i + CHUNK]
            out[i : i + CHUNK] = (F.silu(part @ w_gate.t()) * (part @ w_up.t())) @ w_down.t()
        return y

    @staticmethod
    def backward(ctx, grad_y):
        x, w_gate, w_up, w_down = ctx.saved_tensors
        rows, dy = x.reshape(-1, x.shape[-1]), grad_y.reshape(-1, x.shape[-1])
        dx = torch.empty_like(rows)
        dw_gate, dw_up, dw_down = (
            torch.zeros(w.shape, dtype=w.dtype, device=w.device) for w in (w_gate, w_up, w_down)
        )
        for i in range(0, rows.shape[0], CHUNK):
            part, dpart = rows[i : i + CHUNK], dy[i : i + CHUNK]
            g, u = part @ w_gate.t(), part @ w_up.t()
            sig = torch.sigmoid(g)
            s, dh = g * sig, dpart @ w_down
            dg, du = dh * u * (sig + s * (1 - sig)), dh * s
            dx[i : i + CHUNK] = dg @ w_gate + du @ w_up
            dw_gate += dg.t() @ part
            dw_up += du.t() @ part
            dw_down += dpart.t() @ (s * u)
        return dx.reshape(x.shape), dw_gate, dw_up, dw_down


def swiglu_mlp(x, w_gate, w_up, w_down):
    return ChunkedSwiGLU.apply(x, w_gate, w_up, w_down)
