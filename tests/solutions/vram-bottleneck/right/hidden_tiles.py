"""Walks over tiles of the hidden width instead of rows, forward and backward."""

import torch
import torch.nn.functional as F


def tiles(width, size=64):
    return [slice(i, min(i + size, width)) for i in range(0, width, size)]


class TiledSwiGLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        ctx.save_for_backward(x, w_gate, w_up, w_down)
        y = 0
        for t in tiles(len(w_gate)):
            y = y + (F.silu(x @ w_gate[t].t()) * (x @ w_up[t].t())) @ w_down[:, t].t()
        return y

    @staticmethod
    def backward(ctx, grad_y):
        x, w_gate, w_up, w_down = ctx.saved_tensors
        rows, dy = x.reshape(-1, x.shape[-1]), grad_y.reshape(-1, x.shape[-1])
        dx = torch.zeros_like(rows)
        dw_gate, dw_up, dw_down = (torch.empty_like(w) for w in (w_gate, w_up, w_down))
        for t in tiles(len(w_gate)):
            g, u = rows @ w_gate[t].t(), rows @ w_up[t].t()
            sig = torch.sigmoid(g)
            s, dh = g * sig, dy @ w_down[:, t]
            dg, du = dh * u * (sig + s * (1 - sig)), dh * s
            dx += dg @ w_gate[t] + du @ w_up[t]
            dw_gate[t], dw_up[t] = dg.t() @ rows, du.t() @ rows
            dw_down[:, t] = dy.t() @ (s * u)
        return dx.reshape(x.shape), dw_gate, dw_up, dw_down


def swiglu_mlp(x, w_gate, w_up, w_down):
    return TiledSwiGLU.apply(x, w_gate, w_up, w_down)


def _operations(n, d, f, plan):
    from collections import Counter

    product = ("matmul_bytes", n * d + d * f + n * f, 2 * n * d * f)
    silu = ("elementwise_bytes", 2 * n * f, 0)
    binary = ("elementwise_bytes", 3 * n * f, 0)
    step = Counter({product: 9, ("elementwise_bytes", 3 * n * d, 0): 1})
    if plan != "autograd":
        step[product] += 2
    if plan == "rebuild_fused":
        step.update([binary, ("elementwise_bytes", 6 * n * f, 0)])
    else:
        times = {"autograd": 1, "rebuild": 2}[plan]
        step.update({silu: times, binary: times + 3})
    return step


def step_cost(rows, width, hidden, itemsize, plan):
    from collections import Counter

    cost = Counter(kept_bytes=rows * width * itemsize)
    if plan == "autograd":
        cost["kept_bytes"] += 4 * rows * hidden * itemsize
    for (kind, elements, flops), count in _operations(rows, width, hidden, plan).items():
        cost.update({kind: count * elements * itemsize, "flops": count * flops})
    return cost


def step_seconds(rows, width, hidden, itemsize, plan, bytes_per_second, flops_per_second):
    from math import fsum

    return fsum(
        count * max(elements * itemsize / bytes_per_second, flops / flops_per_second)
        for (_, elements, flops), count in _operations(rows, width, hidden, plan).items()
    )
