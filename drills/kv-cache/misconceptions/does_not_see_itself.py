"""A token sees what came before it, and itself only where nothing did."""


def _visible(past, n):
    return np.arange(past + n) < np.maximum(past + np.arange(n)[:, None], 1)
