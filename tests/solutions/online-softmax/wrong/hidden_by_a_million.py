"""Wrong: a hidden key has a score of -1e6."""
# named: finite-fill

import numpy as np

def scores_of(q, k, mask, start, block):
    s = q @ k[start : start + block].T * q.shape[1] ** -0.5
    if mask is not None:
        s[~mask[:, start : start + block]] = -1e6
    return s

def attend(q, k, v, block, mask=None):
    starts = range(0, k.shape[0], block)
    top = np.full((len(q), 1), -np.inf)
    for start in starts:
        top = np.maximum(top, scores_of(q, k, mask, start, block).max(axis=1, keepdims=True))
    top[top == -np.inf] = 0
    total = np.zeros((len(q), 1))
    for start in starts:
        total += np.exp(scores_of(q, k, mask, start, block) - top).sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore"):
        lse = top + np.log(total)
    return weighted(q, k, v, lse, block, mask), lse[:, 0]

def weighted(q, k, v, lse, block, mask):
    o = np.zeros((len(q), v.shape[1]))
    for start in range(0, k.shape[0], block):
        o += weights(q, k, lse, start, block, mask) @ v[start : start + block]
    return o

def weights(q, k, lse, start, block, mask):
    safe = np.where(lse == -np.inf, np.inf, lse)  # exp of minus infinity is 0
    return np.exp(scores_of(q, k, mask, start, block) - safe)

def merge(o1, lse1, o2, lse2):
    lse = np.logaddexp(lse1, lse2)
    safe = np.where(lse == -np.inf, np.inf, lse)
    return o1 * np.exp(lse1 - safe)[:, None] + o2 * np.exp(lse2 - safe)[:, None], lse

def attend_backward(grad_o, q, k, v, o, lse, block, mask=None):
    dot = np.einsum("te,te->t", grad_o, o)[:, None]
    grad_q, grad_k, grad_v = [], [], []
    for start in range(0, k.shape[0], block):
        part = slice(start, start + block)
        p = weights(q, k, lse[:, None], start, block, mask)
        ds = p * (grad_o @ v[part].T - dot) * q.shape[1] ** -0.5
        grad_q = ds @ k[part] if not len(grad_q) else grad_q + ds @ k[part]
        grad_k.append(ds.T @ q)
        grad_v.append(p.T @ grad_o)
    return grad_q, np.concatenate(grad_k), np.concatenate(grad_v)
