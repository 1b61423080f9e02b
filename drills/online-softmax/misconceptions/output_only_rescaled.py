"""The output follows the maximum, the sum does not."""


def _add(state, scores, values):
    top, total, o = state
    new = np.maximum(top, scores.max(axis=1))
    shrink = np.exp(top - _floor(new))
    weights = np.exp(scores - _floor(new)[:, None])
    return new, total + weights.sum(axis=1), shrink[:, None] * o + weights @ values
