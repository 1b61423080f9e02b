"""Nothing is subtracted before the exponential."""


def _weights(scores, visible):
    e = np.where(visible, np.exp(scores), 0)
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1, total)
