"""The sum follows the maximum, the output does not."""


def _add(state, scores, values):
    top, total, o = state
    new = np.maximum(top, scores.max(axis=1))
    shrink = np.exp(top - _floor(new))
    weights = np.exp(scores - _floor(new)[:, None])
    return new, shrink * total + weights.sum(axis=1), o + weights @ values
