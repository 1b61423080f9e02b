"""The exponent is positive."""


def _frequencies(width, base):
    return base ** (2 * np.arange(width // 2) / width)
