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
