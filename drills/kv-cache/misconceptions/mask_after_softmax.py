"""Weights of hidden tokens are set to 0 behind the softmax."""


def _attended(q, keys, values, visible):
    scores = q @ keys.swapaxes(2, 3) * q.dtype.type(q.shape[3] ** -0.5)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return np.where(visible, weights, 0) @ values
