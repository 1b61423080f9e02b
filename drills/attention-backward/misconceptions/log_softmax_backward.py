"""The backward pass of a log-softmax."""


def _softmax_backward(weights, grad_weights, grad_o, o):
    return grad_weights - weights * grad_weights.sum(axis=2, keepdims=True)
