"""A reshape with -1, which numpy refuses where another side is 0."""

right_backward = avgpool2d_backward


def avgpool2d_backward(grad_y, ctx):
    grad_y.reshape(grad_y.shape[0], grad_y.shape[1], -1)
    return right_backward(grad_y, ctx)
