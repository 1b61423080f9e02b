"""Row and column of each winner are kept, both as int64."""

right_forward, right_backward = maxpool2d_forward, maxpool2d_backward


def maxpool2d_forward(x, kernel, stride, padding=0):
    y, ctx = right_forward(x, kernel, stride, padding)
    return y, (ctx, ctx.winner.copy())


def maxpool2d_backward(grad_y, ctx):
    return right_backward(grad_y, ctx[0])
