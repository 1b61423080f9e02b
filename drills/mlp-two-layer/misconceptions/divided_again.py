"""The gradients of the weights are divided by the number of rows once more."""


def _grad_weights(grad, entered):
    return grad.T @ entered / len(grad)
