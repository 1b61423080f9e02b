"""A batch is normalized by the variance that divides by one less than the count."""


def _batch_statistics(x):
    return x.mean(axis=_axes(x)), x.var(axis=_axes(x), ddof=1)


def _stored_variance(x, var):
    return var
