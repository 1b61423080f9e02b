"""The shortest form: always returns all four gradients, frozen inputs or not."""

import torch
from torch.nn.functional import silu


class Block(torch.autograd.Function):
    @staticmethod
    def forward(ctx, *inputs):
        ctx.save_for_backward(*inputs)
        x, a, b, c = inputs
        return (silu(x @ a.T) * (x @ b.T)) @ c.T

    @staticmethod
    def backward(ctx, dy):
        x, a, b, c = ctx.saved_tensors
        rows, dy = x.reshape(-1, x.shape[-1]), dy.reshape(-1, x.shape[-1])
        g, u = rows @ a.T, rows @ b.T
        sig = g.sigmoid()
        s = sig * g
        dh = dy @ c
        dg = dh * u * (sig + s * (1 - sig))
        du = dh * s
        return (dg @ a + du @ b).view(x.shape), dg.T @ rows, du.T @ rows, dy.T @ (s * u)


swiglu_mlp = Block.apply


def _table(rows, width, hidden, plan):
    """Return elements and FLOPs of products and of element-wise kernels, as columns of tensors."""
    again = int(plan != "autograd")
    product = [rows * width + width * hidden + rows * hidden, 2 * rows * width * hidden]
    if plan == "rebuild_fused":
        others = [3 * rows * hidden, 6 * rows * hidden]
    else:
        others = ([2 * rows * hidden] + [3 * rows * hidden]) * (1 + again) + [3 * rows * hidden] * 3
    others.append(3 * rows * width)
    products = torch.tensor([product] * (9 + 2 * again), dtype=torch.int64)
    return products, torch.tensor([[count, 0] for count in others], dtype=torch.int64)


def step_cost(rows, width, hidden, itemsize, plan):
    products, others = _table(rows, width, hidden, plan)
    moved, flops = products.sum(dim=0).tolist()
    kept = 4 * rows * hidden if plan == "autograd" else 0
    return {
        "flops": flops,
        "matmul_bytes": moved * itemsize,
        "elementwise_bytes": int(others[:, 0].sum()) * itemsize,
        "kept_bytes": (rows * width + kept) * itemsize,
    }


def step_seconds(rows, width, hidden, itemsize, plan, bytes_per_second, flops_per_second):
    every = torch.cat(_table(rows, width, hidden, plan)).double()
    moving, computing = every[:, 0] * itemsize / bytes_per_second, every[:, 1] / flops_per_second
    return torch.maximum(moving, computing).sum().item()
