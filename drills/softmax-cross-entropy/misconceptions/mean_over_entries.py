"""Loss and gradient are divided by rows times classes, as a mean over all entries is."""

_mean_loss, _mean_gradient = cross_entropy, cross_entropy_grad


def cross_entropy(z, target):
    return _mean_loss(z, target) / z.shape[1]


def cross_entropy_grad(z, target):
    return _mean_gradient(z, target) / z.shape[1]
