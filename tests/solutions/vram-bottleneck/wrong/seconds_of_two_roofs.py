"""Compares bytes with FLOPs once for the products and once for the rest, and takes the larger."""

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
    return max(matmuls, cost["elementwise_bytes"] / bytes_per_second)
