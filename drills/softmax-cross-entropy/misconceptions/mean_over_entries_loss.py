"""The loss is divided by rows times classes; its gradient is right."""

_mean_loss = cross_entropy


def cross_entropy(z, target, ignore_index=-100):
    return _mean_loss(z, target, ignore_index) / z.shape[1]
