"""Projects with one matmul over the concatenated weights, which are dropped again at once."""

import torch
import torch.nn.functional as F


class FusedSwiGLU(torch.autograd.Function):
    @staticmethod
    def project(x, w_gate, w_up):
        return (x @ torch.cat((w_gate, w_up)).t()).chunk(2, dim=-1)

    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        ctx.save_for_backward(x, w_gate, w_up, w_down)
        gate, up = FusedSwiGLU.project(x, w_gate, w_up)
        return (F.silu(gate) * up) @ w_down.t()

    @staticmethod
    def backward(ctx, grad_y):
        x, w_gate, w_up, w_down = ctx.saved_tensors
        rows, dy = x.reshape(-1, x.shape[-1]), grad_y.reshape(-1, x.shape[-1])
        gate, up = FusedSwiGLU.project(rows, w_gate, w_up)
        sig = torch.sigmoid(gate)
        dw_down = dy.t() @ (gate * sig * up)
        dh = dy @ w_down
        both = torch.cat((dh * up * sig * (1 + gate * (1 - sig)), dh * gate * sig), dim=-1)
        dx = both @ torch.cat((w_gate, w_up))
        dw_gate, dw_up = (part.clone() for part in (both.t() @ rows).chunk(2))
        return dx.reshape(x.shape), dw_gate, dw_up, dw_down


def swiglu_mlp(x, w_gate, w_up, w_down):
    return FusedSwiGLU.apply(x, w_gate, w_up, w_down)


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
