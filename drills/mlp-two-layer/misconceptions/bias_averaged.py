"""The gradient of each bias is the mean over the rows."""


def _grad_bias(grad):
    return grad.mean(axis=0)
