"""One maximum, of all scores, is subtracted."""


def _attended(q, k, v, keep):
    return _weights(_scores(q, k), _visible(0, q.shape[2], keep)) @ v


def _weights(scores, visible):
    scores = np.where(visible, scores, -np.inf)
    e = np.exp(scores - scores.max())
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1, total)
