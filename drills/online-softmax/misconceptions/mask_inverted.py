"""True hides a key."""


def _scores(q, k, mask, keys):
    scores = q @ k[keys].T / _root(q)
    return scores if mask is None else np.where(mask[:, keys], -np.inf, scores)
