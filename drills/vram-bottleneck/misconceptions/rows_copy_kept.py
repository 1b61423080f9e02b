"""Saves x flattened to two dimensions, which is a copy where x is transposed."""


class SwiGLUFn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        rows = x.reshape(-1, x.shape[-1])
        ctx.shape = x.shape
        ctx.save_for_backward(rows, w_gate, w_up, w_down)
        g, u = projections(rows, w_gate, w_up)
        return ((F.silu(g) * u) @ w_down.t()).reshape(x.shape)

    @staticmethod
    def backward(ctx, grad_y):
        rows, w_gate, w_up, w_down = ctx.saved_tensors
        dy = grad_y.reshape(-1, grad_y.shape[-1])
        g, u = projections(rows, w_gate, w_up)
        s, dh = F.silu(g), dy @ w_down
        dg, du = dh * u * silu_slope(g), dh * s
        dx = input_gradient(dg, du, w_gate, w_up).reshape(ctx.shape)
        return dx, dg.t() @ rows, du.t() @ rows, dy.t() @ (s * u)
