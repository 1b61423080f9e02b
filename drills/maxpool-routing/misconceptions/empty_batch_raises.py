"""A reshape with -1, which numpy refuses where another side is 0."""

right_backward = maxpool2d_backward


def maxpool2d_backward(grad_y, ctx):
    ctx.winner.reshape(grad_y.shape[0] * grad_y.shape[1], -1)
    return right_backward(grad_y, ctx)
