"""Wrong: the chain is followed by one link only."""

from typing import Any, NamedTuple

import numpy as np
from rotary import rope


class Link(NamedTuple):
    before: Any
    end: int  # tokens up to here
    k: np.ndarray
    v: np.ndarray


def _links(link):
    yield link


def new_cache(batch, heads, dh, capacity, dtype):
    nothing = np.zeros((batch, heads, 0, dh), dtype)
    return Link(None, 0, nothing, nothing)


def extend(cache, x, w_qkv, w_out):
    b, n, d = x.shape
    heads, dh = cache.k.shape[1], cache.k.shape[3]

    def project(i):
        part = x @ w_qkv[:, i * d : (i + 1) * d]
        return np.stack(np.split(part, heads, -1), axis=1)

    at = np.arange(cache.end, cache.end + n)
    q = rope(project(0), at)
    new = Link(cache, cache.end + n, rope(project(1), at), project(2))

    top = np.full((b, heads, n, 1), -np.inf, x.dtype)
    total = np.zeros_like(top)
    y = np.zeros((b, heads, n, dh), x.dtype)
    for link in _links(new):
        s = q @ link.k.swapaxes(2, 3) * float(dh**-0.5)
        if link is new:
            s = np.where(np.tri(n, dtype=bool), s, -np.inf)
        higher = np.maximum(top, s.max(-1, keepdims=True))
        e, shrink = np.exp(s - higher), np.exp(top - higher)
        y = y * shrink + e @ link.v
        total = total * shrink + e.sum(-1, keepdims=True)
        top = higher
    return np.concatenate(list((y / total).swapaxes(0, 1)), -1) @ w_out, new


def reorder(cache, index):
    if cache.before is None:
        return cache._replace(k=cache.k[index], v=cache.v[index])
    return Link(reorder(cache.before, index), cache.end, cache.k[index], cache.v[index])
