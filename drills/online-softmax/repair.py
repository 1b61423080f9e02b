"""Attention over blocks of keys: the matrix of all scores never exists."""

import numpy as np


# why 2: A mask says which keys a query may look at.
def attend(q, k, v, block, mask=None):
    """The output, softmax(q k^T / sqrt(d)) v, and each row's log-sum-exp."""
    top = np.full(len(q), -np.inf)  # the largest score so far
    total = np.zeros(len(q))
    o = np.zeros((len(q), v.shape[1]))
    for start in range(0, len(k), block):
        scores = q @ k[start : start + block].T / np.sqrt(q.shape[1])
        # why 2: A hidden key has a score of minus infinity, which gives it a weight of 0.
        if mask is not None:
            scores = np.where(mask[:, start : start + block], scores, -np.inf)
        # why: total and o are measured from the old maximum. Both are multiplied by exp(old - new)
        #      before a block is added that is measured from the new one.
        new = np.maximum(top, scores.max(axis=1))
        shrink = np.exp(top - floor(new))
        total, o, top = shrink * total, shrink[:, None] * o, new
        weights = np.exp(scores - floor(top)[:, None])
        total += weights.sum(axis=1)
        o += weights @ v[start : start + block]
    # why 2: Without a key the sum is 0. Divided by 1 the output is 0, and lse is minus infinity.
    total = np.where(total > 0, total, 1)
    return o / total[:, None], top + np.log(total)


# why: What is taken off is the maximum. While a query has seen no key that is minus infinity,
#      and minus infinity less itself would be NaN.
def floor(top):
    """What is taken off scores."""
    return np.where(np.isinf(top), 0, top)


# why 2: The larger lse comes off both, so that nothing overflows; exp of the rest is the weight of
#        a side, and the mean of the outputs under these weights is that over all keys.
def merge(o1, lse1, o2, lse2):
    """The result over two disjoint sets of keys, from those over each."""
    top = np.maximum(lse1, lse2)
    first, second = np.exp(lse1 - floor(top)), np.exp(lse2 - floor(top))
    total = np.where(first + second > 0, first + second, 1)
    o = (first[:, None] * o1 + second[:, None] * o2) / total[:, None]
    return o, top + np.log(total)


# why 3: exp(s - lse) is a weight among all keys, and the dot product that the backward pass of a
#        softmax subtracts is the sum of grad_o * o: neither needs any other key.
def attend_backward(grad_o, q, k, v, o, lse, block, mask=None):
    """The gradients of q, k and v, block by block."""
    root = np.sqrt(q.shape[1])
    dot = (grad_o * o).sum(axis=1, keepdims=True)
    grad_q, grad_k, grad_v = np.zeros(q.shape), np.zeros(k.shape), np.zeros(v.shape)
    for start in range(0, len(k), block):
        some = slice(start, start + block)
        scores = q @ k[some].T / root
        if mask is not None:
            scores = np.where(mask[:, some], scores, -np.inf)
        weights = np.exp(scores - floor(lse)[:, None])
        grad_scores = weights * (grad_o @ v[some].T - dot) / root
        grad_q += grad_scores @ k[some]
        grad_k[some] = grad_scores.T @ q
        grad_v[some] = weights.T @ grad_o
    return grad_q, grad_k, grad_v
