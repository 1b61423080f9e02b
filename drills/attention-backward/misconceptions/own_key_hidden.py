"""A causal query does not see its own key."""


def _seen(queries, keys):
    return np.arange(keys) < np.arange(queries)[:, None] + keys - queries
