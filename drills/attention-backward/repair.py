"""Attention without an autograd engine: forward, and its backward by hand."""

import numpy as np


def attention_forward(q, k, v, causal=False):
    """The output, softmax(q k^T / sqrt(d)) v, and what backward needs."""
    scale = q.dtype.type(q.shape[-1] ** -0.5)
    # why 2: Keys are hidden before the exponential, so that they have no share in the maximum or in
    #        the normalizer.
    scores = q @ k.transpose(0, 2, 1) * scale
    if causal:
        # why 2: The last query stands at the last key: the diagonal is S - T.
        queries, keys = scores.shape[1:]
        seen = np.tril(np.ones((queries, keys), bool), keys - queries)
        scores = np.where(seen, scores, -np.inf)
    # why 2: Less the largest score no exponential overflows. A query that sees no key has minus
    #        infinity there and a sum of 0; taking off 0 and dividing by 1 makes its weights 0.
    top = scores.max(axis=-1, keepdims=True)
    weights = np.exp(scores - np.where(np.isfinite(top), top, 0))
    total = weights.sum(axis=-1, keepdims=True)
    weights = weights / np.where(total > 0, total, 1)
    return weights @ v, (q, k, v, weights, scale)


def attention_backward(grad_o, ctx):
    """The gradients of the sum of grad_o * o."""
    q, k, v, weights, scale = ctx
    grad_v = weights.transpose(0, 2, 1) @ grad_o
    grad_weights = grad_o @ v.transpose(0, 2, 1)
    # why: All weights of a query share one sum, so raising one score lowers the others: the mean of
    #      the gradients under the weights comes off first.
    dot = (weights * grad_weights).sum(axis=-1, keepdims=True)
    grad_scores = weights * (grad_weights - dot) * scale
    grad_q = grad_scores @ k
    grad_k = grad_scores.transpose(0, 2, 1) @ q
    return grad_q, grad_k, grad_v


# why 2: A vector added to every key moves all scores of a query alike, which the softmax ignores
#        (b); a factor on every gradient of a key leaves their sum at 0 (d).
WHY = {"sum-is-zero": "b", "blind-spot": "d"}
