"""The loss is the sum over the rows, and so is its gradient."""

_mean_loss, _mean_gradient = cross_entropy, cross_entropy_grad


def cross_entropy(z, target, ignore_index=-100):
    return _mean_loss(z, target, ignore_index) * _counted_rows(target, ignore_index).size


def cross_entropy_grad(z, target, ignore_index=-100):
    return _mean_gradient(z, target, ignore_index) * _counted_rows(target, ignore_index).size
