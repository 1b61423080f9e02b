"""The gradients of weights and biases are divided by the number of rows once more."""


def _grad_weights(grad, entered):
    return grad.T @ entered / len(grad)


def _grad_bias(grad):
    return grad.mean(axis=0)
