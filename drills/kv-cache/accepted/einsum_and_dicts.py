"""Style: a dict of buffers, einsum for every product, -inf added to the scores."""

import numpy as np
from rotary import rope


def new_cache(batch, heads, dh, capacity, dtype):
    return dict(k=np.empty((batch, capacity, heads, dh), dtype), v=np.empty((batch, capacity, heads, dh), dtype), n=0)


def extend(cache, x, w_qkv, w_out):
    b, n, d = x.shape
    h = cache["k"].shape[2]
    dh = d // h
    start, stop = cache["n"], cache["n"] + n
    w = w_qkv.reshape(d, 3, h, dh)
    where = np.arange(start, stop)
    q = rope(np.einsum("bnd,dhe->bhne", x, w[:, 0]), where)
    k = rope(np.einsum("bnd,dhe->bhne", x, w[:, 1]), where)
    cache["k"][:, start:stop] = k.swapaxes(1, 2)
    cache["v"][:, start:stop] = np.einsum("bnd,dhe->bnhe", x, w[:, 2])
    hidden = np.triu(np.full((n, stop), -np.inf, x.dtype), k=start + 1)
    s = np.einsum("bhne,bshe->bhns", q, cache["k"][:, :stop]) / x.dtype.type(np.sqrt(dh)) + hidden
    p = np.exp(s - s.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    o = np.einsum("bhns,bshe->bnhe", p, cache["v"][:, :stop])
    return np.einsum("bnhe,hed->bnd", o, w_out.reshape(h, dh, d)), dict(cache, n=stop)


def reorder(cache, index):
    return {key: value[index] if key != "n" else value for key, value in cache.items()}
