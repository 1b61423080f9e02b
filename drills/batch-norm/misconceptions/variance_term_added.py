"""The term through the standard deviation has the wrong sign."""


def _gradient_in_training(g, xhat, rstd):
    mean, along = g.mean(axis=_axes(g)), (g * xhat).mean(axis=_axes(g))
    return _wide(rstd, g) * (g - _wide(mean, g) + xhat * _wide(along, g))
