"""The gradients of the weights are the outer product of the last row."""


def _grad_weights(grad, entered):
    return np.outer(grad[-1], entered[-1])
