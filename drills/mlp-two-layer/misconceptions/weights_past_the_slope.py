"""The gradient of W1 is made of the gradient of h."""

_all_gradients = backward


def backward(grad_y, cache):
    x, _, W2, _, _ = cache
    grad_x, _, grad_b1, grad_W2, grad_b2 = _all_gradients(grad_y, cache)
    return grad_x, _grad_weights(_to_input(grad_y, W2), x), grad_b1, grad_W2, grad_b2
