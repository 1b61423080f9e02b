"""Sums over the counted rows are divided by the size of the batch."""

_mean_loss, _mean_gradient = cross_entropy, cross_entropy_grad


def _share(target, ignore_index):
    return _counted_rows(target, ignore_index).size / max(len(target), 1)


def cross_entropy(z, target, ignore_index=-100):
    return _mean_loss(z, target, ignore_index) * _share(target, ignore_index)


def cross_entropy_grad(z, target, ignore_index=-100):
    return _mean_gradient(z, target, ignore_index) * _share(target, ignore_index)
