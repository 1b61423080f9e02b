"""Saves the three weights transposed and made contiguous: three new tensors."""


class SwiGLUFn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        a, b, c = (w.t().contiguous() for w in (w_gate, w_up, w_down))
        ctx.save_for_backward(x, a, b, c)
        return (F.silu(x @ a) * (x @ b)) @ c

    @staticmethod
    def backward(ctx, grad_y):
        x, a, b, c = ctx.saved_tensors
        rows, dy = x.reshape(-1, x.shape[-1]), grad_y.reshape(-1, x.shape[-1])
        g, u = rows @ a, rows @ b
        s, dh = F.silu(g), dy @ c.t()
        dg, du = dh * u * silu_slope(g), dh * s
        dx = input_gradient(dg, du, a.t(), b.t()).reshape(x.shape)
        return dx, dg.t() @ rows, du.t() @ rows, dy.t() @ (s * u)
