"""Exponentials of the scores as they are."""


def _add(state, scores, values):
    top, total, o = state
    weights = np.exp(scores)
    return np.zeros_like(top), total + weights.sum(axis=1), o + weights @ values


def _finish(top, total, o):
    return o / total[:, None], top + np.log(total)
