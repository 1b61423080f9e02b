"""The exponent of pair i is -i / width."""


def _frequencies(width, base):
    return base ** (-np.arange(width // 2) / width)
