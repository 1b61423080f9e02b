"""Rebuilds g and u once for dx and once more for the weights, and lets go of nothing between."""


class SwiGLUFn(SwiGLUFn):
    @staticmethod
    def backward(ctx, grad_y):
        x, w_gate, w_up, w_down = ctx.saved_tensors
        rows, dy = x.reshape(-1, x.shape[-1]), grad_y.reshape(-1, x.shape[-1])
        dh = dy @ w_down
        g, u = projections(rows, w_gate, w_up)
        s, slope = F.silu(g), silu_slope(g)
        ds, du = dh * u, dh * s
        dg = ds * slope
        dx = input_gradient(dg, du, w_gate, w_up)
        g_again, u_again = projections(rows, w_gate, w_up)
        s_again, slope_again = F.silu(g_again), silu_slope(g_again)
        ds_again, du_again, h_again = dh * u_again, dh * s_again, s_again * u_again
        dg_again = ds_again * slope_again
        dw_gate, dw_up = dg_again.t() @ rows, du_again.t() @ rows
        return dx.reshape(x.shape), dw_gate, dw_up, dy.t() @ h_again
