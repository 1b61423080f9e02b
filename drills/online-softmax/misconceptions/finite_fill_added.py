"""A large negative number is added to hidden scores."""

FILL = -1.0e9


def _scores(q, k, mask, keys):
    scores = q @ k[keys].T / _root(q)
    return scores if mask is None else scores + np.where(mask[:, keys], 0, FILL)
