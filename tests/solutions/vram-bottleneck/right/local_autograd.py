"""Lets a small autograd graph inside backward differentiate the two projections and the product."""

import torch
import torch.nn.functional as F


class LocalGraph(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        ctx.save_for_backward(x, w_gate, w_up, w_down)
        return (F.silu(x @ w_gate.t()) * (x @ w_up.t())) @ w_down.t()

    @staticmethod
    def backward(ctx, grad_y):
        *leaves, w_down = (t.detach() for t in ctx.saved_tensors)
        for leaf in leaves:
            leaf.requires_grad_()
        x, w_gate, w_up = leaves
        with torch.enable_grad():
            h = F.silu(x @ w_gate.t()) * (x @ w_up.t())
        dx, dw_gate, dw_up = torch.autograd.grad(h, leaves, grad_y @ w_down)
        dy, h = grad_y.reshape(-1, grad_y.shape[-1]), h.detach().reshape(-1, h.shape[-1])
        return dx, dw_gate, dw_up, dy.t() @ h


def swiglu_mlp(x, w_gate, w_up, w_down):
    return LocalGraph.apply(x, w_gate, w_up, w_down)


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
