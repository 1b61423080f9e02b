"""The dot product of weights and their gradients runs over the queries."""


def _softmax_backward(weights, grad_weights, grad_o, o):
    return weights * (grad_weights - (weights * grad_weights).sum(axis=1, keepdims=True))
