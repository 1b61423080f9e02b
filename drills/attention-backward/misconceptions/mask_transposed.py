"""Query t sees the key at which it stands and those that follow."""


def _seen(queries, keys):
    return np.arange(keys) >= np.arange(queries)[:, None] + keys - queries
