"""Counts y among what is kept."""

import torch


class FrugalSwiGLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        ctx.save_for_backward(x, w_gate, w_up, w_down)
        gate = x.matmul(w_gate.t())
        torch.nn.functional.silu(gate, inplace=True)
        return gate.mul_(x.matmul(w_up.t())).matmul(w_down.t())

    @staticmethod
    def backward(ctx, dy):
        x, w_gate, w_up, w_down = ctx.saved_tensors
        rows = x.reshape(-1, x.shape[-1])
        dy = dy.reshape(-1, dy.shape[-1])
        gate, up = rows.mm(w_gate.t()), rows.mm(w_up.t())
        sig = gate.sigmoid()
        silu = gate.mul_(sig)  # the pre-activation itself is not needed again
        dw_down = dy.t().mm(silu * up)
        dh = dy.mm(w_down)
        d_gate = up.mul_(dh)
        d_up = dh.mul_(silu)
        d_gate.mul_((1 - sig).mul_(silu).add_(sig))
        dx = d_gate.mm(w_gate).addmm_(d_up, w_up)
        return dx.reshape(x.shape), d_gate.t().mm(rows), d_up.t().mm(rows), dw_down


def swiglu_mlp(x, w_gate, w_up, w_down):
    return FrugalSwiGLU.apply(x, w_gate, w_up, w_down)


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
    cost["kept_bytes"] = rows * (2 * width + (4 * hidden if plan == "autograd" else 0)) * itemsize
    return cost


def step_seconds(rows, width, hidden, itemsize, plan, bytes_per_second, flops_per_second):
    seconds = 0.0
    for _, elements, flops in kernels(rows, width, hidden, plan):
        seconds += max(elements * itemsize / bytes_per_second, flops / flops_per_second)
    return seconds
