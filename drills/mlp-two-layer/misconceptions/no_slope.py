"""The gradient passes through the activation unchanged."""


def _slope(h, act):
    return np.ones_like(h)
