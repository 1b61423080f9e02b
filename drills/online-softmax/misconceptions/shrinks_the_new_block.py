"""The new block is multiplied by exp(old - new) as well."""


def _add(state, scores, values):
    top, total, o = state
    new = np.maximum(top, scores.max(axis=1))
    shrink = np.where(np.isinf(top), 1, np.exp(top - _floor(new)))
    weights = np.exp(scores - _floor(new)[:, None])
    return new, shrink * (total + weights.sum(axis=1)), shrink[:, None] * (o + weights @ values)
