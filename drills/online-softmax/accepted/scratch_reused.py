"""Everything in place on arrays that are made once for each call."""

import numpy as np


def attend(q, k, v, block, mask=None):
    size = min(block, len(k))
    scratch = np.empty((len(q), size))
    product = np.empty((len(q), v.shape[1]))
    o = np.zeros_like(product)
    total, top = np.zeros((len(q), 1)), np.full((len(q), 1), -np.inf)
    scaled = q * (1 / np.sqrt(q.shape[1]))
    done = 0
    while done < len(k):
        keys = k[done : done + block]
        s = scratch[:, : len(keys)]
        np.matmul(scaled, keys.T, out=s)
        if mask is not None:
            s[np.logical_not(mask[:, done : done + block])] = -np.inf
        old = top.copy()
        np.maximum(top, s.max(axis=1, keepdims=True), out=top)
        off = np.where(top > -np.inf, top, 0)
        old -= off
        np.exp(old, out=old)
        s -= off
        np.exp(s, out=s)
        total *= old
        total += s.sum(axis=1, keepdims=True)
        o *= old
        np.matmul(s, v[done : done + block], out=product)
        o += product
        done += block
    np.divide(o, total, out=o, where=total != 0)
    with np.errstate(divide="ignore"):
        top += np.log(total)
    return o, top.ravel()


def merge(o1, lse1, o2, lse2):
    # Whoever weighs more is the unit of measure.
    larger = lse1 >= lse2
    a, b = np.where(larger, lse1, lse2), np.where(larger, lse2, lse1)
    ratio = _ratio(a, b)
    heavy, light = np.where(larger[:, None], o1, o2), np.where(larger[:, None], o2, o1)
    light *= ratio[:, None]
    heavy += light
    heavy /= 1 + ratio[:, None]
    return heavy, a + np.log1p(ratio)


def _ratio(a, b):
    gap = np.full_like(a, -np.inf)
    np.subtract(b, a, out=gap, where=a > -np.inf)
    return np.exp(gap)


def attend_backward(grad_o, q, k, v, o, lse, block, mask=None):
    scaled = q / np.sqrt(q.shape[1])
    grad_q, grad_k, grad_v = np.zeros_like(q), np.empty_like(k), np.empty_like(v)
    off = np.where(lse > -np.inf, lse, 0)[:, None]
    dot = (grad_o * o).sum(axis=-1, keepdims=True)
    for start in range(0, len(k), block):
        part = slice(start, min(start + block, len(k)))
        p = scaled @ k[part].T
        p -= off
        np.exp(p, out=p)
        if mask is not None:
            p *= mask[:, part]
        grad_v[part] = p.T @ grad_o
        ds = grad_o @ v[part].T
        ds -= dot
        ds *= p
        grad_q += ds @ k[part]
        grad_k[part] = ds.T @ scaled
    grad_q /= np.sqrt(q.shape[1])
    return grad_q, grad_k, grad_v
