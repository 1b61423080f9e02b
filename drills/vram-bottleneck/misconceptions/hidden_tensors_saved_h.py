"""Rebuilds both projections and keeps the hidden product h."""


class SwiGLUFn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        g, u = projections(x, w_gate, w_up)
        h = F.silu(g) * u
        ctx.save_for_backward(x, h, w_gate, w_up, w_down)
        return h @ w_down.t()

    @staticmethod
    def backward(ctx, grad_y):
        x, h, w_gate, w_up, w_down = ctx.saved_tensors
        rows, dy = x.reshape(-1, x.shape[-1]), grad_y.reshape(-1, x.shape[-1])
        g, u = projections(rows, w_gate, w_up)
        dh = dy @ w_down
        dg, du = dh * u * silu_slope(g), dh * F.silu(g)
        dx = input_gradient(dg, du, w_gate, w_up).reshape(x.shape)
        return dx, dg.t() @ rows, du.t() @ rows, dy.t() @ h.reshape(-1, h.shape[-1])
