"""The gradient of the hidden bias has one row for each row of the batch."""

right_backward = backward


def backward(grad_y, cache):
    x, W1, W2, h, act = cache
    grad_x, grad_W1, _, grad_W2, grad_b2 = right_backward(grad_y, cache)
    grad_z = _through_activation(_to_input(grad_y, W2), h, act)
    return grad_x, grad_W1, grad_z, grad_W2, grad_b2
