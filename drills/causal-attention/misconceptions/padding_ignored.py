"""Padding is attended to like any other token."""


def _visible(first, last, keep):
    return np.arange(last) <= np.arange(first, last)[:, None]
