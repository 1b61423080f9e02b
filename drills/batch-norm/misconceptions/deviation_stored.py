"""The running variance is a running deviation."""

_variance_of = _stored_variance


def _stored_variance(x, var):
    return np.sqrt(_variance_of(x, var))
