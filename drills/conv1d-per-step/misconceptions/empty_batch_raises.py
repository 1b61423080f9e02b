"""A reshape with -1, which numpy refuses where another side is 0."""

right_backward = conv1d_backward


def conv1d_backward(grad_y, cache):
    grad_y.reshape(grad_y.shape[0], -1)
    return right_backward(grad_y, cache)
