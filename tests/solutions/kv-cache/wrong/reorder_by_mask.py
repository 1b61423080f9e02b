"""Wrong: reorder chooses the rows that occur, in their old order and once each, and repeats the last."""

import numpy as np
from rotary import rope


def new_cache(batch, heads, dh, capacity, dtype):
    """An empty cache."""
    room = np.zeros((batch, heads, capacity, dh), dtype)
    return {"k": room, "v": room.copy(), "past": 0}


def extend(cache, x, w_qkv, w_out):
    """Attend from the next tokens x (B, n, D) to all tokens so far; return y (B, n, D) and the cache."""
    batch, n, width = x.shape
    heads, _, dh = cache["k"].shape[1:]
    past = cache["past"]
    q, k, v = (
        part.reshape(batch, n, heads, dh).transpose(0, 2, 1, 3)
        for part in np.split(x @ w_qkv, 3, axis=-1)
    )

    positions = past + np.arange(n)
    q, k = rope(q, positions), rope(k, positions)

    cache["k"][:, :, past : past + n] = k
    cache["v"][:, :, past : past + n] = v
    cache["past"] = past + n

    scores = q @ cache["k"][:, :, : past + n].transpose(0, 1, 3, 2) * x.dtype.type(dh**-0.5)
    visible = np.arange(past + n) <= past + np.arange(n)[:, None]
    scores = np.where(visible, scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)

    y = (weights @ cache["v"][:, :, : past + n]).transpose(0, 2, 1, 3).reshape(batch, n, width)
    return y @ w_out, cache


def reorder(cache, index):
    """A cache whose rows are those of index."""
    rows = np.unique(index)
    index = np.concatenate([rows, np.repeat(rows[-1:], len(index) - len(rows))])
    return {"k": cache["k"][index], "v": cache["v"][index], "past": cache["past"]}
