"""Hidden scores of a block are replaced by a large negative number."""

FILL = -1e9


def _weights(scores, visible):
    scores = np.where(visible, scores, FILL)
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)
