"""The backward pass divides what arrives by the number of rows."""

right_backward = backward


def backward(grad_y, cache):
    return right_backward(grad_y / len(grad_y), cache)
