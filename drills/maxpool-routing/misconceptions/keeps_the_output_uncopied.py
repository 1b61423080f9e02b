"""The output is kept beside the winners, without a copy."""

right_forward, right_backward = maxpool2d_forward, maxpool2d_backward


def maxpool2d_forward(x, kernel, stride, padding=0):
    y, ctx = right_forward(x, kernel, stride, padding)
    return y, (ctx, y)


def maxpool2d_backward(grad_y, ctx):
    return right_backward(grad_y, ctx[0])
