"""The frequencies go from 1 to 1 / base, with both ends."""


def _frequencies(width, base):
    return base ** -np.linspace(0, 1, width // 2)
