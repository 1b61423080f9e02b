"""The gradient of the output bias has one row for each row of the batch."""

right_backward = backward


def backward(grad_y, cache):
    *others, _ = right_backward(grad_y, cache)
    return *others, grad_y.copy()
