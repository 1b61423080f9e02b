"""dg and du are both written into dh, so that one tensor has to serve as both."""


class SwiGLUFn(SwiGLUFn):
    @staticmethod
    def backward(ctx, grad_y):
        x, w_gate, w_up, w_down = ctx.saved_tensors
        rows, dy = x.reshape(-1, x.shape[-1]), grad_y.reshape(-1, grad_y.shape[-1])
        g, u = projections(rows, w_gate, w_up)
        s, dh = F.silu(g), dy @ w_down
        dg = dh.mul_(u).mul_(silu_slope(g))
        du = dh.mul_(s)
        dx = input_gradient(dg, du, w_gate, w_up).reshape(x.shape)
        return dx, dg.t() @ rows, du.t() @ rows, dy.t() @ (s * u)
