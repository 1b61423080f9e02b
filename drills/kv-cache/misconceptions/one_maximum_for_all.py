"""The largest of all scores is subtracted from every row."""


def _attended(q, keys, values, visible):
    scores = q @ keys.swapaxes(2, 3) * q.dtype.type(q.shape[3] ** -0.5)
    scores = np.where(visible, scores, -np.inf)
    weights = np.exp(scores - scores.max())
    return weights / weights.sum(axis=-1, keepdims=True) @ values
