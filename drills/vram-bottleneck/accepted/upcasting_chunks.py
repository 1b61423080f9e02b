"""Computes in the next wider dtype, a chunk of rows at a time, and casts the results back."""

import torch
from torch.nn.functional import silu

WIDER = {torch.bfloat16: torch.float32, torch.float32: torch.float64}


class UpcastSwiGLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, *weights):
        ctx.save_for_backward(x, *weights)
        wide = WIDER.get(x.dtype, x.dtype)
        w_gate, w_up, w_down = (w.to(wide) for w in weights)
        rows = x.reshape(-1, x.shape[-1])
        parts = [p.to(wide) for p in rows.split(64)]
        y = [((silu(p @ w_gate.t()) * (p @ w_up.t())) @ w_down.t()).to(x.dtype) for p in parts]
        return torch.cat(y).reshape(x.shape)

    @staticmethod
    def backward(ctx, grad_y):
        x, *weights = ctx.saved_tensors
        wide = WIDER.get(x.dtype, x.dtype)
        w_gate, w_up, w_down = (w.to(wide) for w in weights)
        sums = [torch.zeros(w.shape, dtype=wide, device=w.device) for w in weights]
        dx = []
        rows, dys = (t.reshape(-1, x.shape[-1]).split(64) for t in (x, grad_y))
        for p, dy in zip(rows, dys):
            p, dy = p.to(wide), dy.to(wide)
            g, u = p @ w_gate.t(), p @ w_up.t()
            sig = g.sigmoid()
            dh = dy @ w_down
            dg, du = dh * u * sig * (1 + g * (1 - sig)), dh * g * sig
            dx.append((dg @ w_gate + du @ w_up).to(x.dtype))
            for total, left, right in zip(sums, (dg, du, dy), (p, p, g * sig * u)):
                total += left.t() @ right
        return torch.cat(dx).reshape(x.shape), *(total.to(x.dtype) for total in sums)


def swiglu_mlp(x, w_gate, w_up, w_down):
    return UpcastSwiGLU.apply(x, w_gate, w_up, w_down)


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
