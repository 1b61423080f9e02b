"""A divisor is kept for every output."""

right_forward, right_backward = avgpool2d_forward, avgpool2d_backward


def avgpool2d_forward(x, *settings, **more):
    y, ctx = right_forward(x, *settings, **more)
    return y, (ctx, np.broadcast_to(ctx.divisor, y.shape).copy())


def avgpool2d_backward(grad_y, ctx):
    return right_backward(grad_y, ctx[0])
