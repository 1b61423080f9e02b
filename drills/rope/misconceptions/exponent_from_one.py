"""Pairs are counted from 1."""


def _frequencies(width, base):
    return base ** (-2 * np.arange(1, width // 2 + 1) / width)
