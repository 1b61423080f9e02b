"""dh is multiplied by u in place for dg, and du is computed from what stands there then."""


class SwiGLUFn(SwiGLUFn):
    @staticmethod
    def backward(ctx, grad_y):
        x, w_gate, w_up, w_down = ctx.saved_tensors
        rows, dy = x.reshape(-1, x.shape[-1]), grad_y.reshape(-1, grad_y.shape[-1])
        g, u = projections(rows, w_gate, w_up)
        s, dh = F.silu(g), dy @ w_down
        dg = dh.mul_(u) * silu_slope(g)
        du = dh * s
        dx = input_gradient(dg, du, w_gate, w_up).reshape(x.shape)
        return dx, dg.t() @ rows, du.t() @ rows, dy.t() @ (s * u)
