"""One layer of causal attention for our decoder, with a key and value cache."""

import numpy as np
from rotary import rope


def new_cache(batch, heads, dh, capacity, dtype):
    """An empty cache; it grows as tokens come in."""
    empty = np.zeros((batch, heads, 0, dh), dtype)
    return {"k": empty, "v": empty}


def extend(cache, x, w_qkv, w_out):
    """Attend from the next tokens x (B, n, D) to all tokens so far."""
    batch, n, width = x.shape
    heads, past, dh = cache["k"].shape[1:]
    q, k, v = (
        part.reshape(batch, n, heads, dh).transpose(0, 2, 1, 3)
        for part in np.split(x @ w_qkv, 3, axis=-1)
    )

    positions = np.arange(n)
    q, k = rope(q, positions), rope(k, positions)

    cache["k"] = np.concatenate([cache["k"], k], axis=2)
    cache["v"] = np.concatenate([cache["v"], v], axis=2)
    keys, values = cache["k"], cache["v"]

    scores = q @ keys.transpose(0, 1, 3, 2) * x.dtype.type(dh**-0.5)
    visible = np.arange(past + n) <= past + np.arange(n)[:, None]
    scores = np.where(visible, scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)

    y = (weights @ values).transpose(0, 2, 1, 3).reshape(batch, n, width)
    return y @ w_out, cache


def reorder(cache, index):
    """Put the rows of the cache into the order of index."""
    cache["k"][:] = cache["k"][index]
    cache["v"][:] = cache["v"][index]
    return cache
