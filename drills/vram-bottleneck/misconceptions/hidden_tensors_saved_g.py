"""Rebuilds one projection and keeps the other."""


class SwiGLUFn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        g, u = projections(x, w_gate, w_up)
        ctx.save_for_backward(x, g, w_gate, w_up, w_down)
        return (F.silu(g) * u) @ w_down.t()

    @staticmethod
    def backward(ctx, grad_y):
        x, g, w_gate, w_up, w_down = ctx.saved_tensors
        rows, dy = x.reshape(-1, x.shape[-1]), grad_y.reshape(-1, x.shape[-1])
        g, u = g.reshape(-1, g.shape[-1]), rows @ w_up.t()
        s, dh = F.silu(g), dy @ w_down
        dg, du = dh * u * silu_slope(g), dh * s
        dx = input_gradient(dg, du, w_gate, w_up).reshape(x.shape)
        return dx, dg.t() @ rows, du.t() @ rows, dy.t() @ (s * u)
