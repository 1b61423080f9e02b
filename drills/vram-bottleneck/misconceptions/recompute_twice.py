"""Rebuilds g and u once for dx and once more for the weights."""


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
        dh = dy @ w_down
        g, u = projections(rows, w_gate, w_up)
        dx = input_gradient(dh * u * silu_slope(g), dh * F.silu(g), w_gate, w_up)
        g, u = projections(rows, w_gate, w_up)
        dw_gate, dw_up = (dh * u * silu_slope(g)).t() @ rows, (dh * F.silu(g)).t() @ rows
        return dx.reshape(x.shape), dw_gate, dw_up, dy.t() @ (F.silu(g) * u)
