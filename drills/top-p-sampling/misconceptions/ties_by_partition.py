"""Which of equal logits stay is left to numpy: the last k of an ascending argpartition."""


def _ranked(row, top_k):
    tokens = np.flatnonzero(row > -np.inf)
    if 0 < top_k < len(tokens):
        place = len(tokens) - top_k
        tokens = tokens[np.argpartition(row[tokens], place)[place:]]
    return tokens[np.argsort(-row[tokens], kind="stable")]
