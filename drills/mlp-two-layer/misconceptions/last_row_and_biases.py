"""A loop over the rows overwrites the gradients of weights and biases."""


def _grad_weights(grad, entered):
    return np.outer(grad[-1], entered[-1])


def _grad_bias(grad):
    return grad[-1].copy()
