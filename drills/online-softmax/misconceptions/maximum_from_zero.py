"""The maximum begins at 0."""


def _add(state, scores, values):
    top, total, o = state
    top = np.maximum(top, 0)
    new = np.maximum(top, scores.max(axis=1))
    shrink, weights = np.exp(top - new), np.exp(scores - new[:, None])
    return new, shrink * total + weights.sum(axis=1), shrink[:, None] * o + weights @ values


def _finish(top, total, o):
    return o / total[:, None], top + np.log(total)
