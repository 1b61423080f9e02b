"""Rebuilds the hidden layer for each weight on its own: 15 matmuls instead of 11."""

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
        rows, dy = x.reshape(-1, x.shape[-1]), grad_y.reshape(-1, x.shape[-1])
        g, u = rows @ w_gate.t(), rows @ w_up.t()
        sig = torch.sigmoid(g)
        s = g * sig
        dh = dy @ w_down
        dg, du = dh * u * sig * (1 + g * (1 - sig)), dh * s
        dx = (dg @ w_gate + du @ w_up).reshape(x.shape)
        dw_gate = dg.t() @ rows
        g, u = rows @ w_gate.t(), rows @ w_up.t()
        dw_up = (dh * F.silu(g)).t() @ rows
        g, u = rows @ w_gate.t(), rows @ w_up.t()
        return dx, dw_gate, dw_up, dy.t() @ (F.silu(g) * u)


def swiglu_mlp(x, w_gate, w_up, w_down):
    return SwiGLU.apply(x, w_gate, w_up, w_down)


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
