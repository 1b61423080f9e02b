"""Exponentials of the scores as they are; where their sum is 0 it divides by 1."""


def _add(state, scores, values):
    top, total, o = state
    weights = np.exp(scores)
    return np.zeros_like(top), total + weights.sum(axis=1), o + weights @ values
