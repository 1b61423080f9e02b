"""The triangle of the mask begins at the top left."""


def _visible(past, n):
    return np.tril(np.ones((n, past + n), bool))
