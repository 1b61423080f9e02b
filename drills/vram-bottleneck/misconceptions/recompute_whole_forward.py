"""Runs the whole forward again in backward, the down-projection included."""


class SwiGLUFn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        ctx.save_for_backward(x, w_gate, w_up, w_down)
        g, u = projections(x, w_gate, w_up)
        return (F.silu(g) * u) @ w_down.t()

    @staticmethod
    def backward(ctx, grad_y):
        inputs = [t.detach().requires_grad_() for t in ctx.saved_tensors]
        x, w_gate, w_up, w_down = inputs
        with torch.enable_grad():
            g, u = projections(x, w_gate, w_up)
            y = (F.silu(g) * u) @ w_down.t()
        return torch.autograd.grad(y, inputs, grad_y)
