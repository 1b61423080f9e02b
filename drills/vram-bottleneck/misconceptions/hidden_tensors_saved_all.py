"""Writes the Function and saves every intermediate in it: what autograd would have kept."""


def rows_of(t):
    return t.reshape(-1, t.shape[-1])


class SwiGLUFn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        g, u = projections(x, w_gate, w_up)
        s = F.silu(g)
        h = s * u
        ctx.save_for_backward(x, g, u, s, h, w_gate, w_up, w_down)
        return h @ w_down.t()

    @staticmethod
    def backward(ctx, grad_y):
        x, g, u, s, h, w_gate, w_up, w_down = ctx.saved_tensors
        dy = rows_of(grad_y)
        dw_down = dy.t() @ rows_of(h)
        dh = dy @ w_down
        dg = dh * rows_of(u) * silu_slope(rows_of(g))
        du = dh * rows_of(s)
        dx = input_gradient(dg, du, w_gate, w_up).reshape(x.shape)
        return dx, dg.t() @ rows_of(x), du.t() @ rows_of(x), dw_down
