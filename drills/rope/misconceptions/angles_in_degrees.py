"""Angles are taken for degrees."""

_radians = _frequencies


def _frequencies(width, base):
    return np.deg2rad(_radians(width, base))
