"""Both results are float64, whatever x is."""

right_forward, right_backward = avgpool2d_forward, avgpool2d_backward


def avgpool2d_forward(x, *settings, **more):
    y, ctx = right_forward(x, *settings, **more)
    return y.astype(np.float64), ctx


def avgpool2d_backward(grad_y, ctx):
    return right_backward(grad_y, ctx).astype(np.float64)
