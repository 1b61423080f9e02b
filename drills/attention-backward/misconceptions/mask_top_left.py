"""Query t sees the keys 0 to t, however many queries and keys there are."""


def _seen(queries, keys):
    return np.tril(np.ones((queries, keys), bool))
