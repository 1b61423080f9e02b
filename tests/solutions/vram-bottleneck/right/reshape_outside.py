"""The Function knows only matrices; a view around it takes care of leading dimensions, or a loop."""

import torch
import torch.nn.functional as F


class MatrixSwiGLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        assert x.dim() == 2
        ctx.save_for_backward(x, w_gate, w_up, w_down)
        return torch.mm(F.silu(torch.mm(x, w_gate.t())) * torch.mm(x, w_up.t()), w_down.t())

    @staticmethod
    def backward(ctx, dy):
        x, w_gate, w_up, w_down = ctx.saved_tensors
        gate = torch.mm(x, w_gate.t())
        up = torch.mm(x, w_up.t())
        sig = torch.sigmoid(gate)
        silu = gate * sig
        d_down = torch.mm(dy.t(), silu * up)
        d_hidden = torch.mm(dy, w_down)
        d_up = d_hidden * silu
        d_gate = d_hidden * up * (sig + silu * (1 - sig))
        dx = torch.mm(d_gate, w_gate) + torch.mm(d_up, w_up)
        return dx, torch.mm(d_gate.t(), x), torch.mm(d_up.t(), x), d_down


def swiglu_mlp(x, w_gate, w_up, w_down):
    try:
        rows = x.view(-1, x.shape[-1])
    except RuntimeError:  # only a copy could be flattened
        return torch.stack([swiglu_mlp(part, w_gate, w_up, w_down) for part in x])
    return MatrixSwiGLU.apply(rows, w_gate, w_up, w_down).reshape(x.shape)


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
        matmul_bytes=products * (n * d + f * d + n * f) * itemsize,
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
