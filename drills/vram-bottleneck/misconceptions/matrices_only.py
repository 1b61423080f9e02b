"""Transposes x and the gradients as matrices, without making rows of them."""


class SwiGLUFn(SwiGLUFn):
    @staticmethod
    def backward(ctx, grad_y):
        x, w_gate, w_up, w_down = ctx.saved_tensors
        g, u = projections(x, w_gate, w_up)
        s, dh = F.silu(g), grad_y @ w_down
        dg, du = dh * u * silu_slope(g), dh * s
        dx = input_gradient(dg, du, w_gate, w_up)
        return dx, dg.t() @ x, du.t() @ x, grad_y.t() @ (s * u)
