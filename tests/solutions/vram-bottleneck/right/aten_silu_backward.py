"""The slope of silu comes from torch's own kernel for it, in place where nobody reads it again."""

import torch


class Block(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, gate, up, down):
        ctx.save_for_backward(x, gate, up, down)
        hidden = torch.nn.functional.silu(x @ gate.mT)
        hidden.mul_(x @ up.mT)
        return hidden @ down.mT

    @staticmethod
    def backward(ctx, dy):
        x, gate, up, down = ctx.saved_tensors
        flat, dy = x.flatten(0, -2) if x.dim() > 1 else x[None], dy.reshape(-1, down.shape[0])
        g, u = flat @ gate.mT, flat @ up.mT
        s = torch.nn.functional.silu(g)
        d_down = dy.mT @ (s * u)
        dh = dy @ down
        du = dh * s
        dg = torch.ops.aten.silu_backward(dh.mul_(u), g)
        dx = torch.addmm(du @ up, dg, gate).reshape(x.shape)
        return dx, dg.mT @ flat, du.mT @ flat, d_down


def swiglu_mlp(x, w_gate, w_up, w_down):
    return Block.apply(x, w_gate, w_up, w_down)


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
