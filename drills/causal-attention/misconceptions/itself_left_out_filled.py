"""A query does not see itself, and hidden scores are large and negative."""

_right = _visible
BLOCK = 10**6


def _visible(first, last, keep):
    strict = np.arange(last) < np.arange(first, last)[:, None]
    return strict & _right(first, last, keep)


def _weights(scores, visible):
    scores = np.where(visible, scores, scores.dtype.type(-1e9))
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)
