"""Wrong: what is saved is x flattened, which is a copy where x is transposed."""

import functools

import torch


class Gated(torch.autograd.Function):
    @staticmethod
    def forward(ctx, beta, x, w_gate, w_up, w_down):
        ctx.beta, ctx.shape = beta, x.shape
        ctx.save_for_backward(x.reshape(-1, x.shape[-1]), w_gate, w_up, w_down)
        g = x @ w_gate.t()
        return (g * torch.sigmoid(beta * g) * (x @ w_up.t())) @ w_down.t()

    @staticmethod
    def backward(ctx, grad_y):
        x, w_gate, w_up, w_down = ctx.saved_tensors
        dy = grad_y.reshape(x.shape)
        g, u = x @ w_gate.t(), x @ w_up.t()
        sig = torch.sigmoid(ctx.beta * g)
        dh = dy @ w_down
        grads = {"down": dy.t() @ (g * sig * u)}
        dg, du = dh * u * (sig + ctx.beta * g * sig * (1 - sig)), dh * g * sig
        grads["x"] = (dg @ w_gate).add_(du @ w_up).reshape(ctx.shape)
        grads["gate"], grads["up"] = (d.t() @ x for d in (dg, du))
        return None, *(grads[name] for name in ("x", "gate", "up", "down"))


swiglu_mlp = functools.partial(Gated.apply, 1.0)
