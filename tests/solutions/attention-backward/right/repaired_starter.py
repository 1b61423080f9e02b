"""The starter, repaired line by line."""

import numpy as np

WHY = {"sum-is-zero": "b", "blind-spot": "d"}


def softmax(q, k, scale, causal):
    scores = q @ k.transpose(0, 2, 1) * scale
    T, S = scores.shape[1:]
    if causal:
        scores = np.where(np.tril(np.ones((T, S), bool), S - T), scores, -np.inf)
    top = scores.max(axis=-1, keepdims=True)
    weights = np.exp(scores - np.where(np.isfinite(top), top, 0))
    total = weights.sum(axis=-1, keepdims=True)
    return weights / np.where(total == 0, 1, total)


def attention_forward(q, k, v, causal=False):
    scale = q.dtype.type(q.shape[-1] ** -0.5)
    return softmax(q, k, scale, causal) @ v, (q, k, v, scale, causal)


def attention_backward(grad_o, ctx):
    q, k, v, scale, causal = ctx
    weights = softmax(q, k, scale, causal)
    grad_v = weights.transpose(0, 2, 1) @ grad_o
    grad_weights = grad_o @ v.transpose(0, 2, 1)
    grad_weights = grad_weights - (weights * grad_weights).sum(axis=-1, keepdims=True)
    grad_scores = weights * grad_weights * scale
    return grad_scores @ k, grad_scores.transpose(0, 2, 1) @ q, grad_v
