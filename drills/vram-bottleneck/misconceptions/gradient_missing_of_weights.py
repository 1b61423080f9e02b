"""Returns a gradient for x and None for the weights."""

whole_backward = SwiGLUFn.backward


class SwiGLUFn(SwiGLUFn):
    @staticmethod
    def backward(ctx, grad_y):
        dx, *_ = whole_backward(ctx, grad_y)
        return dx, None, None, None
