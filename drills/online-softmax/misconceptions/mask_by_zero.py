"""Hidden keys have a score of 0."""


def _scores(q, k, mask, keys):
    scores = q @ k[keys].T / _root(q)
    return scores if mask is None else scores * mask[:, keys]
