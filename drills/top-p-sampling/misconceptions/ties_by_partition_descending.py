"""Which of equal logits stay is left to numpy: the first k of an argpartition of the negated logits, at k - 1."""


def _ranked(row, top_k):
    tokens = np.flatnonzero(row > -np.inf)
    if 0 < top_k < len(tokens):
        place = len(tokens) - top_k
        tokens = tokens[np.argpartition(-row[tokens], top_k - 1)[:top_k]]
    return tokens[np.argsort(-row[tokens], kind="stable")]
