"""In training the term through the standard deviation divides by one less than the count."""


def _gradient_in_training(g, xhat, rstd):
    mean = g.mean(axis=_axes(g))
    along = (g * xhat).sum(axis=_axes(g)) / (_count(g) - 1)
    return _wide(rstd, g) * (g - _wide(mean, g) - xhat * _wide(along, g))
