"""Weights are measured from the block's maximum, and not divided."""


def _weights(scores, lse):
    return np.exp(scores - _floor(scores.max(axis=1))[:, None])
