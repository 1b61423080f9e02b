"""grad_x is written into an array that is kept for the next call of that shape."""

right_backward = maxpool2d_backward
buffers = {}


def maxpool2d_backward(grad_y, ctx):
    grad_x = buffers.setdefault((ctx.shape, ctx.dtype), np.zeros(ctx.shape, ctx.dtype))
    grad_x[...] = right_backward(grad_y, ctx)
    return grad_x
