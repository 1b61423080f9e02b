"""Upcasts all four bfloat16 inputs in forward and saves the float32 copies."""


class SwiGLUFn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        inputs = x, w_gate, w_up, w_down
        wide = [t.float() for t in inputs] if x.dtype == torch.bfloat16 else inputs
        ctx.save_for_backward(*wide)
        g, u = projections(*wide[:3])
        return ((F.silu(g) * u) @ wide[3].t()).to(x.dtype)

    @staticmethod
    def backward(ctx, grad_y):
        x, w_gate, w_up, w_down = ctx.saved_tensors
        rows = x.reshape(-1, x.shape[-1])
        dy = grad_y.reshape(-1, x.shape[-1]).to(x.dtype)
        g, u = projections(rows, w_gate, w_up)
        s, dh = F.silu(g), dy @ w_down
        dg, du = dh * u * silu_slope(g), dh * s
        dx = input_gradient(dg, du, w_gate, w_up).reshape(x.shape)
        grads = dx, dg.t() @ rows, du.t() @ rows, dy.t() @ (s * u)
        return tuple(grad.to(grad_y.dtype) for grad in grads)
