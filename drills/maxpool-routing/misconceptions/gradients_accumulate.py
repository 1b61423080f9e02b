"""Each backward pass on a ctx returns the sum of all gradients so far."""

right_forward, right_backward = maxpool2d_forward, maxpool2d_backward


def maxpool2d_forward(x, kernel, stride, padding=0):
    y, ctx = right_forward(x, kernel, stride, padding)
    return y, (ctx, np.zeros(x.shape, x.dtype))


def maxpool2d_backward(grad_y, ctx):
    ctx, grad_x = ctx
    grad_x += right_backward(grad_y, ctx)
    return grad_x.copy()
