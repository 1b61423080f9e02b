"""y and grad_x are both made by np.zeros(shape), which is float64 whatever x is."""

right_forward, right_backward = maxpool2d_forward, maxpool2d_backward


def maxpool2d_forward(x, kernel, stride, padding=0):
    y, ctx = right_forward(x, kernel, stride, padding)
    return y.astype(np.float64), ctx


def maxpool2d_backward(grad_y, ctx):
    return right_backward(grad_y, ctx).astype(np.float64)
