"""Attention over blocks of keys: the matrix of all scores never exists."""

import numpy as np


def attend(q, k, v, block):
    """The output, softmax(q k^T / sqrt(d)) v, and each row's log-sum-exp."""
    top = np.full(len(q), -np.inf)  # the largest score so far
    total = np.zeros(len(q))
    o = np.zeros((len(q), v.shape[1]))
    for start in range(0, len(k), block):
        scores = q @ k[start : start + block].T / np.sqrt(q.shape[1])
        top = np.maximum(top, scores.max(axis=1))
        weights = np.exp(scores - top[:, None])
        total += weights.sum(axis=1)
        o += weights @ v[start : start + block]
    return o / total[:, None], top + np.log(total)
