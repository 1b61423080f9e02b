"""Sums stand where means belong."""


def _gradient_in_training(g, xhat, rstd):
    total, along = g.sum(axis=_axes(g)), (g * xhat).sum(axis=_axes(g))
    return _wide(rstd, g) * (g - _wide(total, g) - xhat * _wide(along, g))
