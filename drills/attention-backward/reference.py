"""Scaled dot-product attention and its backward pass, without a matrix of weights in between.

With s = q k^T / sqrt(d), P = softmax(s) over the keys and o = P v, the chain rule gives, for each
query, with g = grad_o:

    grad_v = P^T g
    dP     = g v^T
    dS     = P * (dP - D),   D = sum over the keys of P * dP
    grad_q = dS k / sqrt(d)
    grad_k = dS^T q / sqrt(d)

Since o = P v, D is also the sum of g * o over the features, which needs no matrix. P is rebuilt
from q, k and two numbers for each query: the largest score that it sees, and what the exponentials
are divided by.

Source: T. Dao, D. Y. Fu, S. Ermon, A. Rudra and C. Re, "FlashAttention: Fast and Memory-Efficient
Exact Attention with IO-Awareness", 2022, arXiv:2205.14135.
"""

from typing import Any

import numpy as np

# A vector c added to every key adds q . c to all scores of a query, which a softmax ignores. The
# gradients of the keys still sum to 0 if all of them are multiplied by sqrt(d).
WHY = {"sum-is-zero": "b", "blind-spot": "d"}


def attention_forward(
    q: np.ndarray, k: np.ndarray, v: np.ndarray, causal: bool = False
) -> tuple[np.ndarray, Any]:
    """Return the attention of the queries to the keys.

    Args:
        q: (N, T, d), float32 or float64, any strides; never modified.
        k: (N, S, d), dtype of q; never modified.
        v: (N, S, e), dtype of q; never modified.
        causal: whether query t sees only the keys s <= t + S - T.

    Returns:
        o: (N, T, e), dtype of q; 0 for a query that sees no key.
        ctx: for `attention_backward`; refers to q, k, v and o.
    """
    scores = _scores(q, k, causal)
    top, total = _normalizer(scores)
    o = _weights(scores, top, total) @ v
    return o, (q, k, v, o, top, total, causal)


def attention_backward(grad_o: np.ndarray, ctx: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the gradients of the sum of grad_o * o.

    Args:
        grad_o: (N, T, e), dtype of q, any strides; never modified.
        ctx: what `attention_forward` returned; it can be used again.

    Returns:
        grad_q, grad_k, grad_v: in the shapes and the dtype of q, k and v.
    """
    q, k, v, o, top, total, causal = ctx
    weights = _weights(_scores(q, k, causal), top, total)
    grad_scores = _scale(q) * _softmax_backward(weights, grad_o @ v.swapaxes(1, 2), grad_o, o)
    grad_v = weights.swapaxes(1, 2) @ grad_o
    return grad_scores @ k, grad_scores.swapaxes(1, 2) @ q, grad_v


def _scale(q: np.ndarray) -> float:
    """Return 1 / sqrt(d), a Python float: a numpy one would make float32 arrays float64."""
    return float(q.shape[2] ** -0.5)


def _scores(q: np.ndarray, k: np.ndarray, causal: bool) -> np.ndarray:
    """Return the scores, (N, T, S): minus infinity where a key is hidden."""
    scores = q @ k.swapaxes(1, 2) * _scale(q)
    if causal:
        scores = np.where(_seen(q.shape[1], k.shape[1]), scores, -np.inf)
    return scores


def _seen(queries: int, keys: int) -> np.ndarray:
    """Return which key is seen by which query, (T, S): the last query stands at the last key."""
    return np.arange(keys) <= np.arange(queries)[:, None] + keys - queries


def _normalizer(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return what is taken off each query's scores, and what the exponentials are divided by."""
    # Without a key the largest score is minus infinity, and minus infinity less itself is NaN.
    top = scores.max(axis=2, keepdims=True)
    top = np.where(np.isfinite(top), top, 0)
    total = np.exp(scores - top).sum(axis=2, keepdims=True)
    return top, np.where(total > 0, total, 1)


def _weights(scores: np.ndarray, top: np.ndarray, total: np.ndarray) -> np.ndarray:
    """Return the softmax over the keys, (N, T, S): 0 throughout for a query without a key."""
    return np.exp(scores - top) / total


def _softmax_backward(
    weights: np.ndarray, grad_weights: np.ndarray, grad_o: np.ndarray, o: np.ndarray
) -> np.ndarray:
    """Return the gradient of the scores, (N, T, S), from that of the weights."""
    return weights * (grad_weights - (grad_o * o).sum(axis=2, keepdims=True))
