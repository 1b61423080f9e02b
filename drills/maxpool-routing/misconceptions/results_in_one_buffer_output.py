"""y is written into an array that is kept for the next call of that shape."""

right_forward = maxpool2d_forward
buffers = {}


def maxpool2d_forward(x, kernel, stride, padding=0):
    result, ctx = right_forward(x, kernel, stride, padding)
    y = buffers.setdefault((result.shape, result.dtype), result)
    y[...] = result
    return y, ctx
