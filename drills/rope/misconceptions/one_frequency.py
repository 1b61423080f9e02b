"""All pairs rotate by one radian per position."""


def _frequencies(width, base):
    return np.ones(width // 2)
