"""The exponent of pair i is -4 i / width."""


def _frequencies(width, base):
    return base ** (-2 * np.arange(width // 2) / (width // 2))
