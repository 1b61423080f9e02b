"""The maximum that is subtracted is that of all keys, hidden ones included."""


def _attended(q, k, v, keep):
    return _weights(_scores(q, k), _visible(0, q.shape[2], keep)) @ v


def _weights(scores, visible):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True)) * visible
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1, total)
