"""Saves the gate and up weights concatenated: one new tensor as large as both."""


class SwiGLUFn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        fused = torch.cat([w_gate, w_up])
        ctx.save_for_backward(x, fused, w_down)
        g, u = (x @ fused.t()).chunk(2, dim=-1)
        return (F.silu(g) * u) @ w_down.t()

    @staticmethod
    def backward(ctx, grad_y):
        x, fused, w_down = ctx.saved_tensors
        rows, dy = x.reshape(-1, x.shape[-1]), grad_y.reshape(-1, x.shape[-1])
        g, u = (rows @ fused.t()).chunk(2, dim=-1)
        s, dh = F.silu(g), dy @ w_down
        dg, du = dh * u * silu_slope(g), dh * s
        dx = input_gradient(dg, du, *fused.chunk(2)).reshape(x.shape)
        return dx, dg.t() @ rows, du.t() @ rows, dy.t() @ (s * u)
