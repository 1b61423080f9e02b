"""Returns None for x, and a gradient for all weights."""

whole_backward = SwiGLUFn.backward


class SwiGLUFn(SwiGLUFn):
    @staticmethod
    def backward(ctx, grad_y):
        _, *of_weights = whole_backward(ctx, grad_y)
        return None, *of_weights
