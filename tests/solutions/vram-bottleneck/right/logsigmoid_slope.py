"""silu as g * exp(logsigmoid(g)), its slope as s * (1 + g * sigmoid(-g)); gradients by name."""

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
            grads["w_down"] = torch.mm(dy.t(), g * s * u)
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


# Every one of the products moves N D + F D + N F elements and takes 2 N D F FLOPs, whichever it is.
HIDDEN_TENSORS = {
    "autograd": (2, 3, 3, 3, 3),
    "rebuild": (2, 3, 2, 3, 3, 3, 3),
    "rebuild_fused": (3, 6),
}


def step_cost(rows, width, hidden, itemsize, plan):
    products = 9 if plan == "autograd" else 11
    kept = rows * width + (plan == "autograd") * 4 * rows * hidden
    return {
        "flops": products * 2 * rows * width * hidden,
        "matmul_bytes": products * itemsize * (rows * width + hidden * width + rows * hidden),
        "elementwise_bytes": itemsize * rows * (sum(HIDDEN_TENSORS[plan]) * hidden + 3 * width),
        "kept_bytes": itemsize * kept,
    }


def step_seconds(rows, width, hidden, itemsize, plan, bytes_per_second, flops_per_second):
    cost = step_cost(rows, width, hidden, itemsize, plan)
    # All products are alike, so all of them are limited by the same thing; the rest only moves.
    matmuls = max(cost["matmul_bytes"] / bytes_per_second, cost["flops"] / flops_per_second)
    return matmuls + cost["elementwise_bytes"] / bytes_per_second
