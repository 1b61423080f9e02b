"""The loss is the sum over the rows, and so is its gradient."""

_mean_loss, _mean_gradient = cross_entropy, cross_entropy_grad


def cross_entropy(z, target):
    return _mean_loss(z, target) * len(z)


def cross_entropy_grad(z, target):
    return _mean_gradient(z, target) * len(z)
