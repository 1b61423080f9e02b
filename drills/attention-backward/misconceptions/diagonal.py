"""Each weight depends on its own score only."""


def _softmax_backward(weights, grad_weights, grad_o, o):
    return weights * (1 - weights) * grad_weights
