"""SwiGLU block with a hand-written backward, so that we decide what is kept for it.

Passes gradcheck in float64, works for any leading dimensions, and leaves out the gradients of
frozen inputs.
"""

import torch
import torch.nn.functional as F  # noqa: N812


def _rows(t):
    """Merge the leading dimensions: (..., K) to (N, K)."""
    return t.reshape(-1, t.shape[-1])


class SwiGLUFn(torch.autograd.Function):
    """y = (silu(x w_gate^T) * (x w_up^T)) w_down^T."""

    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        """Return y (..., D) of x (..., D), w_gate and w_up (F, D), w_down (D, F)."""
        g = x @ w_gate.t()
        u = x @ w_up.t()
        s = F.silu(g)
        h = s * u
        ctx.save_for_backward(x, g, u, s, h, w_gate, w_up, w_down)
        return h @ w_down.t()

    @staticmethod
    def backward(ctx, grad_y):
        """Return dx, dw_gate, dw_up, dw_down from grad_y (..., D)."""
        x, g, u, s, h, w_gate, w_up, w_down = ctx.saved_tensors
        wants_x, wants_gate, wants_up, wants_down = ctx.needs_input_grad
        dy = _rows(grad_y)
        g, u, s, h = _rows(g), _rows(u), _rows(s), _rows(h)

        dw_down = dy.t() @ h if wants_down else None
        dh = dy @ w_down
        sig = torch.sigmoid(g)
        dg = dh * u * (sig * (1 + g * (1 - sig)))  # silu'(g) = sig + g sig (1 - sig)
        du = dh * s
        dx = (dg @ w_gate + du @ w_up).reshape(x.shape) if wants_x else None
        dw_gate = dg.t() @ _rows(x) if wants_gate else None
        dw_up = du.t() @ _rows(x) if wants_up else None
        return dx, dw_gate, dw_up, dw_down


def swiglu_mlp(x, w_gate, w_up, w_down):
    """SwiGLU feed-forward block; y has the shape and dtype of x."""
    return SwiGLUFn.apply(x, w_gate, w_up, w_down)
