"""Every token that equals the k-th largest logit stays."""


def _ranked(row, top_k):
    tokens = np.flatnonzero(row > -np.inf)
    if 0 < top_k < len(tokens):
        tokens = np.flatnonzero(row >= np.sort(row)[-top_k])
    return tokens[np.argsort(-row[tokens], kind="stable")]
