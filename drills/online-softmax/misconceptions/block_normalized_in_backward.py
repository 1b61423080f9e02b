"""Weights are normalized within each block."""


def _weights(scores, lse):
    weights = np.exp(scores - _floor(scores.max(axis=1))[:, None])
    total = weights.sum(axis=1, keepdims=True)
    return weights / np.where(total > 0, total, 1)
