"""The gradient of h is computed once for g and once for u."""


class SwiGLUFn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        ctx.save_for_backward(x, w_gate, w_up, w_down)
        g, u = projections(x, w_gate, w_up)
        return (F.silu(g) * u) @ w_down.t()

    @staticmethod
    def backward(ctx, grad_y):
        x, w_gate, w_up, w_down = ctx.saved_tensors
        rows, dy = x.reshape(-1, x.shape[-1]), grad_y.reshape(-1, x.shape[-1])
        g, u = projections(rows, w_gate, w_up)
        s = F.silu(g)
        dg, du = (dy @ w_down) * u * silu_slope(g), (dy @ w_down) * s
        dx = input_gradient(dg, du, w_gate, w_up).reshape(x.shape)
        return dx, dg.t() @ rows, du.t() @ rows, dy.t() @ (s * u)
