"""One layer of causal attention for our decoder, with a key and value cache."""

import numpy as np
from rotary import rope


def new_cache(batch, heads, dh, capacity, dtype):
    """An empty cache; it grows as tokens come in."""
    # why 3: The buffers are made once, with room for all tokens. The count has an axis of
    #        sequences, so that reorder can treat it as it treats keys and values.
    k = np.zeros((batch, heads, capacity, dh), dtype)
    return {"k": k, "v": np.zeros_like(k), "count": np.zeros(batch, int)}


def extend(cache, x, w_qkv, w_out):
    """Attend from the next tokens x (B, n, D) to all tokens so far."""
    batch, n, width = x.shape
    # why 3: The buffers no longer say how many tokens are in them.
    heads, _, dh = cache["k"].shape[1:]
    past = int(cache["count"][0])
    q, k, v = (
        part.reshape(batch, n, heads, dh).transpose(0, 2, 1, 3)
        for part in np.split(x @ w_qkv, 3, axis=-1)
    )

    # why: The tokens of a piece stand behind those that the cache holds.
    positions = np.arange(past, past + n)
    q, k = rope(q, positions), rope(k, positions)

    # why 3: Concatenating copies all keys and values to add one token. Writing into the buffers
    #        copies the token, and slices are views.
    cache["k"][:, :, past : past + n] = k
    cache["v"][:, :, past : past + n] = v
    cache["count"] += n
    keys, values = cache["k"][:, :, : past + n], cache["v"][:, :, : past + n]

    scores = q @ keys.transpose(0, 1, 3, 2) * x.dtype.type(dh**-0.5)
    visible = np.arange(past + n) <= past + np.arange(n)[:, None]
    scores = np.where(visible, scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)

    y = (weights @ values).transpose(0, 2, 1, 3).reshape(batch, n, width)
    return y @ w_out, cache


def reorder(cache, index):
    """Put the rows of the cache into the order of index."""
    # why 2: An assignment into the buffers changes the old cache, which lives on, and has room for
    #        as many rows as before. Indexing with an array makes new arrays of any length.
    return {name: part[index] for name, part in cache.items()}
