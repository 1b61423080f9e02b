"""dx is written into the incoming gradient, which is not backward's to overwrite."""

right = SwiGLUFn


class SwiGLUFn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        return right.forward(ctx, x, w_gate, w_up, w_down)

    @staticmethod
    def backward(ctx, grad_y):
        dx, *weights = right.backward(ctx, grad_y)
        if dx is not None and grad_y.is_contiguous():
            dx = grad_y.copy_(dx)
        return dx, *weights
