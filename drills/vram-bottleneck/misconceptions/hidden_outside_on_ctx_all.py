"""Hangs everything on ctx as attributes: the inputs, g, u, silu(g) and h."""


class SwiGLUFn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        ctx.x, ctx.weights = x, (w_gate, w_up, w_down)
        ctx.g, ctx.u = projections(x, w_gate, w_up)
        ctx.s = F.silu(ctx.g)
        ctx.h = ctx.s * ctx.u
        return ctx.h @ w_down.t()

    @staticmethod
    def backward(ctx, grad_y):
        x, (w_gate, w_up, w_down) = ctx.x, ctx.weights
        rows, dy = x.reshape(-1, x.shape[-1]), grad_y.reshape(-1, x.shape[-1])
        g, u, s, h = (t.reshape(-1, t.shape[-1]) for t in (ctx.g, ctx.u, ctx.s, ctx.h))
        dh = dy @ w_down
        dg, du = dh * u * silu_slope(g), dh * s
        dx = input_gradient(dg, du, w_gate, w_up).reshape(x.shape)
        return dx, dg.t() @ rows, du.t() @ rows, dy.t() @ h
