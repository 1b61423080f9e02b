"""The gradient of the sum of the losses, although the loss is their mean."""

_mean_gradient = cross_entropy_grad


def cross_entropy_grad(z, target):
    return _mean_gradient(z, target) * len(z)
