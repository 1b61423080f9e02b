"""The gradients of the weights are transposed: inputs along the rows."""


def _grad_weights(grad, entered):
    return entered.T @ grad
