"""Wrong: at the first block that is hidden from all queries the loop ends."""

import numpy as np


def attend(q, k, v, block, mask=None):
    top = np.full(len(q), -np.inf)  # the largest score so far
    total = np.zeros(len(q))
    o = np.zeros((len(q), v.shape[1]))
    for start in range(0, len(k), block):
        scores = q @ k[start : start + block].T / np.sqrt(q.shape[1])
        if mask is not None:
            scores[~mask[:, start : start + block]] = -np.inf
        if not np.isfinite(scores).any(axis=1).all():
            break
        new = np.maximum(top, scores.max(axis=1))
        base = np.where(np.isfinite(new), new, 0.0)
        shrink = np.exp(top - base)
        weights = np.exp(scores - base[:, None])
        total = total * shrink + weights.sum(axis=1)
        o = o * shrink[:, None] + weights @ v[start : start + block]
        top = new
    divisor = np.where(total > 0, total, 1.0)
    return o / divisor[:, None], np.where(total > 0, top + np.log(divisor), -np.inf)


def merge(o1, lse1, o2, lse2):
    top = np.maximum(lse1, lse2)
    base = np.where(np.isfinite(top), top, 0.0)
    w1, w2 = np.exp(lse1 - base), np.exp(lse2 - base)
    total = w1 + w2
    divisor = np.where(total > 0, total, 1.0)
    o = (w1[:, None] * o1 + w2[:, None] * o2) / divisor[:, None]
    return o, np.where(total > 0, base + np.log(divisor), -np.inf)


def attend_backward(grad_o, q, k, v, o, lse, block, mask=None):
    scale = 1 / np.sqrt(q.shape[1])
    base = np.where(np.isfinite(lse), lse, 0.0)
    grad_q = np.zeros(q.shape)
    grad_k = np.zeros(k.shape)
    grad_v = np.zeros(v.shape)
    for start in range(0, len(k), block):
        part = slice(start, start + block)
        scores = q @ k[part].T * scale
        if mask is not None:
            scores[~mask[:, part]] = -np.inf
        p = np.exp(scores - base[:, None])
        ds = p * (grad_o @ v[part].T - np.sum(grad_o * o, axis=1, keepdims=True))
        grad_q += scale * (ds @ k[part])
        grad_k[part] = scale * (ds.T @ q)
        grad_v[part] = p.T @ grad_o
    return grad_q, grad_k, grad_v
