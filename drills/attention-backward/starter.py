"""Attention without an autograd engine: forward, and its backward by hand."""

import numpy as np


def attention_forward(q, k, v, causal=False):
    """The output, softmax(q k^T / sqrt(d)) v, and what backward needs."""
    scale = q.dtype.type(q.shape[-1] ** -0.5)
    weights = np.exp(q @ k.transpose(0, 2, 1) * scale)
    if causal:
        weights = weights * np.tril(np.ones(weights.shape[1:], weights.dtype))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return weights @ v, (q, k, v, weights, scale)


def attention_backward(grad_o, ctx):
    """The gradients of the sum of grad_o * o."""
    q, k, v, weights, scale = ctx
    grad_v = weights.transpose(0, 2, 1) @ grad_o
    grad_weights = grad_o @ v.transpose(0, 2, 1)
    grad_scores = weights * grad_weights * scale
    grad_q = grad_scores @ k
    grad_k = grad_scores.transpose(0, 2, 1) @ q
    return grad_q, grad_k, grad_v
