"""Adds a copy of every transposed weight to the bytes of the products."""

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


def _counts(plan):
    """Return how many products there are, and how many hidden tensors the other kernels move."""
    match plan:
        case "autograd":
            return 9, 14
        case "rebuild":
            return 11, 19
        case "rebuild_fused":
            return 11, 9
    raise ValueError(plan)


def step_cost(rows, width, hidden, itemsize, plan):
    n, d, f = float(rows), float(width), float(hidden)
    products, moved = _counts(plan)
    return dict(
        flops=products * 2.0 * n * d * f,
        matmul_bytes=products * (n * d + 2 * f * d + n * f) * itemsize,
        elementwise_bytes=(moved * n * f + 3.0 * n * d) * itemsize,
        kept_bytes=n * (d + 4.0 * f if plan == "autograd" else d) * itemsize,
    )


def step_seconds(rows, width, hidden, itemsize, plan, bytes_per_second, flops_per_second):
    n, d, f = rows, width, hidden
    products, moved = _counts(plan)
    one = max(
        (n * d + f * d + n * f) * itemsize / bytes_per_second, 2 * n * d * f / flops_per_second
    )
    return products * one + (moved * f + 3 * d) * n * itemsize / bytes_per_second
