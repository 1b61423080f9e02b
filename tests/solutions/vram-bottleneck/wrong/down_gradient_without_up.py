"""The gradient of w_down uses silu(g), where silu(g) * u belongs."""

import torch
from torch.nn.functional import linear, logsigmoid


def _gate(g):
    return torch.exp(logsigmoid(g))


class Swish(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        ctx.save_for_backward(x, w_gate, w_up, w_down)
        g = linear(x, w_gate)
        return linear(g * _gate(g) * linear(x, w_up), w_down)

    @staticmethod
    def backward(ctx, grad_y):
        x, w_gate, w_up, w_down = ctx.saved_tensors
        needed = dict(zip(("x", "w_gate", "w_up", "w_down"), ctx.needs_input_grad, strict=True))
        rows = x.contiguous().view(-1, x.shape[-1])
        dy = grad_y.contiguous().view(-1, x.shape[-1])
        g, u = linear(rows, w_gate), linear(rows, w_up)
        s = _gate(g)
        grads = {}
        if needed["w_down"]:
            grads["w_down"] = torch.mm(dy.t(), g * s)
        dh = torch.mm(dy, w_down)
        du = dh * (g * s)
        dg = dh * u * s * (1 + g * _gate(-g))
        if needed["w_gate"]:
            grads["w_gate"] = torch.mm(dg.t(), rows)
        if needed["w_up"]:
            grads["w_up"] = torch.mm(du.t(), rows)
        if needed["x"]:
            grads["x"] = torch.mm(dg, w_gate).add_(torch.mm(du, w_up)).view(x.shape)
        return tuple(grads.get(name) for name in needed)


def swiglu_mlp(x, w_gate, w_up, w_down):
    return Swish.apply(x, w_gate, w_up, w_down)
