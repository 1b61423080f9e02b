"""One maximum is taken off the scores of all queries."""


def _add(state, scores, values):
    top, total, o = state
    new = np.full_like(top, max(top.max(), scores.max()))
    shrink, weights = np.exp(top - _floor(new)), np.exp(scores - _floor(new)[:, None])
    return new, shrink * total + weights.sum(axis=1), shrink[:, None] * o + weights @ values


def _finish(top, total, o):
    return o / total[:, None], top + np.log(total)
