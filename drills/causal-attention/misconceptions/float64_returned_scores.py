"""Scores are float64, whatever x is, and so is all that follows."""


def _scores(q, k):
    return q @ k.transpose(0, 1, 3, 2) / np.sqrt([q.shape[-1]])


def _attended(q, k, v, keep):
    return _weights(_scores(q, k), _visible(0, q.shape[2], keep)) @ v
