"""Leaves g and u to a closure that finishes the backward."""


class SwiGLUFn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        ctx.save_for_backward(x, w_gate, w_up, w_down)
        g, u = projections(x, w_gate, w_up)
        ctx.hidden_gradients = lambda dh: (
            dh * rows_of(u) * silu_slope(rows_of(g)),
            dh * F.silu(rows_of(g)),
            F.silu(rows_of(g)) * rows_of(u),
        )
        return (F.silu(g) * u) @ w_down.t()

    @staticmethod
    def backward(ctx, grad_y):
        x, w_gate, w_up, w_down = ctx.saved_tensors
        rows, dy = rows_of(x), rows_of(grad_y)
        dg, du, h = ctx.hidden_gradients(dy @ w_down)
        dx = input_gradient(dg, du, w_gate, w_up).reshape(x.shape)
        return dx, dg.t() @ rows, du.t() @ rows, dy.t() @ h


def rows_of(t):
    return t.reshape(-1, t.shape[-1])
