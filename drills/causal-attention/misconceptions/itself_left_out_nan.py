"""A query does not see itself, and the first one, which sees nobody, gets NaN."""

_right = _visible


def _visible(first, last, keep):
    strict = np.arange(last) < np.arange(first, last)[:, None]
    return strict & _right(first, last, keep)


def _weights(scores, visible):
    scores = np.where(visible, scores, -np.inf)
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)
