"""The maximum that is subtracted is that of all keys; a row of zeros is divided by 0."""


def _attended(q, k, v, keep):
    scores = _scores(q, k)
    visible = np.broadcast_to(_visible(0, q.shape[2], keep), scores.shape)
    e = np.exp(scores - scores.max(axis=-1, keepdims=True)) * visible
    weights = e / e.sum(axis=-1, keepdims=True)
    return np.where(visible.any(axis=-1, keepdims=True), weights, 0) @ v
