"""The gradient of the hidden bias is the mean over the rows."""

right_backward = backward


def backward(grad_y, cache):
    grads = list(right_backward(grad_y, cache))
    grads[2] = grads[2] / len(grad_y)
    return tuple(grads)
