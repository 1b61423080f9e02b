"""Hidden keys have a large negative score."""

FILL = -1.0e9


def _scores(q, k, mask, keys):
    scores = q @ k[keys].T / _root(q)
    return scores if mask is None else np.where(mask[:, keys], scores, FILL)
