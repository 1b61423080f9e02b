"""One dot product of weights and arriving gradients for all queries of a head."""


def _softmax_backward(weights, grad_weights, grad_o, o):
    return weights * (grad_weights - (grad_o * o).sum(axis=(1, 2), keepdims=True))
