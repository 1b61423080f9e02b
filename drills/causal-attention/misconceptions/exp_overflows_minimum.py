"""The minimum of the scores of a row is subtracted before the exponential."""


def _weights(scores, visible):
    scores = np.where(visible, scores, -np.inf)
    low = scores.min(axis=-1, keepdims=True)
    e = np.exp(scores - np.where(low == -np.inf, 0, low))
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1, total)
