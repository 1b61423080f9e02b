"""A row without a token is NaN; at temperature 0 its first token has a probability of 1."""


def _ranked(row, top_k):
    tokens = np.argsort(-row, kind="stable")
    if np.isneginf(row).all():
        return tokens
    return tokens[: min(np.count_nonzero(row > -np.inf), top_k or len(row))]
