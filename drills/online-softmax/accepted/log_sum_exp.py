"""The state is lse itself and an output that is always normalized: a block is a merge."""

import numpy as np


def attend(q, k, v, block, mask=None):
    o, lse = np.zeros((len(q), v.shape[1])), np.full(len(q), -np.inf)
    for start in range(0, len(k), block):
        keys = slice(start, start + block)
        seen = None if mask is None else mask[:, keys]
        o, lse = merge(o, lse, *_block(q, k[keys], v[keys], seen))
    return o, lse


def _block(q, k, v, mask):
    s = _scores(q, k, mask)
    lse = np.logaddexp.reduce(s, axis=1)
    return _exp(s, lse) @ v, lse


def _scores(q, k, mask):
    s = np.einsum("td,sd->ts", q, k) / np.sqrt(q.shape[1])
    return s if mask is None else np.where(mask, s, -np.inf)


def _exp(s, lse):
    with np.errstate(invalid="ignore"):
        return np.nan_to_num(np.exp(s - lse[:, None]), nan=0.0)


def merge(o1, lse1, o2, lse2):
    lse = np.logaddexp(lse1, lse2)
    w1, w2 = _exp(lse1[:, None], lse), _exp(lse2[:, None], lse)
    return w1 * o1 + w2 * o2, lse


def attend_backward(grad_o, q, k, v, o, lse, block, mask=None):
    grad_q, grad_k, grad_v = np.zeros_like(q), np.zeros_like(k), np.zeros_like(v)
    dot = np.sum(grad_o * o, axis=1)
    for start in range(0, len(k), block):
        keys = slice(start, start + block)
        p = _exp(_scores(q, k[keys], None if mask is None else mask[:, keys]), lse)
        ds = p * (grad_o @ v[keys].T - dot[:, None]) / np.sqrt(q.shape[1])
        grad_q += np.einsum("ts,sd->td", ds, k[keys])
        grad_k[keys] = np.einsum("ts,td->sd", ds, q)
        grad_v[keys] = np.einsum("ts,te->se", p, grad_o)
    return grad_q, grad_k, grad_v
