"""Returns the gradients of w_gate and w_up in each other's place."""

class SwiGLUFn(SwiGLUFn):
    @staticmethod
    def backward(ctx, grad_y):
        x, w_gate, w_up, w_down = ctx.saved_tensors
        rows, dy = x.reshape(-1, x.shape[-1]), grad_y.reshape(-1, grad_y.shape[-1])
        g, u = projections(rows, w_gate, w_up)
        s, dh = F.silu(g), dy @ w_down
        dg, du = dh * u * silu_slope(g), dh * s
        dx = input_gradient(dg, du, w_gate, w_up).reshape(x.shape)
        return dx, du.t() @ rows, dg.t() @ rows, dy.t() @ (s * u)
