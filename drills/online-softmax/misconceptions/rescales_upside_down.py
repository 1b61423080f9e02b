"""Old terms are multiplied by exp(new - old)."""


def _add(state, scores, values):
    top, total, o = state
    new = np.maximum(top, scores.max(axis=1))
    grow = np.exp(new - np.where(np.isinf(top), new, top))
    weights = np.exp(scores - _floor(new)[:, None])
    return new, grow * total + weights.sum(axis=1), grow[:, None] * o + weights @ values
