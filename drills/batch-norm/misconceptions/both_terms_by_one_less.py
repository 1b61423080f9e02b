"""In training both terms of the gradient divide by one less than the count."""


def _gradient_in_training(g, xhat, rstd):
    mean = g.sum(axis=_axes(g)) / (_count(g) - 1)
    along = (g * xhat).sum(axis=_axes(g)) / (_count(g) - 1)
    return _wide(rstd, g) * (g - _wide(mean, g) - xhat * _wide(along, g))
