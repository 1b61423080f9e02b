"""A factory makes the Function class from an activation and its slope."""

import torch


def gated_mlp(activation, slope):
    def hidden(x, w_gate, w_up):
        g = x @ w_gate.t()
        return g, x @ w_up.t(), activation(g)

    class GatedMLP(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, w_gate, w_up, w_down):
            ctx.save_for_backward(x, w_gate, w_up, w_down)
            _, u, a = hidden(x, w_gate, w_up)
            return (a * u) @ w_down.t()

        @staticmethod
        def backward(ctx, dy):
            x, w_gate, w_up, w_down = ctx.saved_tensors
            flat = lambda t: t.reshape(-1, t.shape[-1])  # noqa: E731
            g, u, a = hidden(flat(x), w_gate, w_up)
            dh = flat(dy) @ w_down
            dg, du = dh * u * slope(g), dh * a
            dx = (dg @ w_gate + du @ w_up).reshape(x.shape)
            return dx, dg.t() @ flat(x), du.t() @ flat(x), flat(dy).t() @ (a * u)

    return lambda x, w_gate, w_up, w_down: GatedMLP.apply(x, w_gate, w_up, w_down)


def silu(g):
    return g * torch.sigmoid(g)


def silu_slope(g):
    s = torch.sigmoid(g)
    return s + g * s * (1 - s)


swiglu_mlp = gated_mlp(silu, silu_slope)


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
    one = max((n * d + f * d + n * f) * itemsize / bytes_per_second, 2 * n * d * f / flops_per_second)
    return products * one + (moved * f + 3 * d) * n * itemsize / bytes_per_second
