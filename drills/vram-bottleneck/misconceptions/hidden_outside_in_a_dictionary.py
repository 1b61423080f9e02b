"""Keeps g and u in a dictionary of the module and only their key on the graph."""

import itertools

STASH = {}
TICKETS = itertools.count()


class SwiGLUFn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        ctx.save_for_backward(x, w_gate, w_up, w_down)
        ctx.ticket = next(TICKETS)
        g, u = STASH[ctx.ticket] = projections(x, w_gate, w_up)
        return (F.silu(g) * u) @ w_down.t()

    @staticmethod
    def backward(ctx, grad_y):
        x, w_gate, w_up, w_down = ctx.saved_tensors
        rows, dy = x.reshape(-1, x.shape[-1]), grad_y.reshape(-1, x.shape[-1])
        g, u = (t.reshape(-1, t.shape[-1]) for t in STASH[ctx.ticket])
        s, dh = F.silu(g), dy @ w_down
        dg, du = dh * u * silu_slope(g), dh * s
        dx = input_gradient(dg, du, w_gate, w_up).reshape(x.shape)
        return dx, dg.t() @ rows, du.t() @ rows, dy.t() @ (s * u)
