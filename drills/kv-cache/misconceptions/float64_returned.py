"""The scores are multiplied by a float64 number of numpy's."""


def _attended(q, keys, values, visible):
    scores = q @ keys.swapaxes(2, 3) / np.sqrt(q.shape[3])
    scores = np.where(visible, scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True) @ values
