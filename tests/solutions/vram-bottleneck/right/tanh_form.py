"""Writes the sigmoid as (1 + tanh(g / 2)) / 2 and sums dx over a stack of both paths."""

import torch


def sigmoid(g):
    return torch.tanh(g / 2).add_(1).mul_(0.5)


class TanhSwiGLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        ctx.save_for_backward(x, w_gate, w_up, w_down)
        g = torch.matmul(x, w_gate.transpose(0, 1))
        h = g * sigmoid(g) * torch.matmul(x, w_up.transpose(0, 1))
        return torch.matmul(h, w_down.transpose(0, 1))

    @staticmethod
    def backward(ctx, dy):
        x, w_gate, w_up, w_down = ctx.saved_tensors
        rows, dy = x.reshape(-1, x.shape[-1]), dy.reshape(-1, x.shape[-1])
        g, u = rows @ w_gate.t(), rows @ w_up.t()
        sig, dh = sigmoid(g), dy @ w_down
        dg, du = dh * u * sig * (1 + g * (1 - sig)), dh * g * sig
        dx = torch.stack([dg @ w_gate, du @ w_up]).sum(0).reshape(x.shape)
        return dx, dg.t() @ rows, du.t() @ rows, dy.t() @ (g * sig * u)


def swiglu_mlp(x, w_gate, w_up, w_down):
    return TanhSwiGLU.apply(x, w_gate, w_up, w_down)


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
