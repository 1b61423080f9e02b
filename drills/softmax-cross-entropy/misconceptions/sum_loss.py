"""The loss is the sum over the rows; its gradient is that of the mean."""

_mean_loss = cross_entropy


def cross_entropy(z, target):
    return _mean_loss(z, target) * len(z)
