"""A mask of 0 and -inf, made without a dtype, is added to the scores."""


def _attended(q, keys, values, visible):
    scores = q @ keys.swapaxes(2, 3) * q.dtype.type(q.shape[3] ** -0.5)
    mask = np.zeros(visible.shape)
    mask[~visible] = -np.inf
    scores = scores + mask
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True) @ values
