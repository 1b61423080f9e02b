"""In training the gradient follows x through the standard deviation, and the mean is a constant."""


def _gradient_in_training(g, xhat, rstd):
    return _wide(rstd, g) * (g - xhat * _wide((g * xhat).mean(axis=_axes(g)), g))
