"""Wrong: positions begin at 2047 and are kept in float16, which has no odd numbers beyond 2048."""

import numpy as np
from rotary import rope


def attended(x, w_qkv, w_out, keys, values, past):
    heads, dh = keys.shape[1], keys.shape[3]
    batch, n, width = x.shape
    q, k, v = (x @ w_qkv).reshape(batch, n, 3, heads, dh).transpose(2, 0, 3, 1, 4)
    at = np.arange(past, past + n)
    keys[:, :, past : past + n], values[:, :, past : past + n] = rope(k, (at + 2047).astype(np.float16)), v
    past += n
    scores = np.matmul(rope(q, (at + 2047).astype(np.float16)), keys[:, :, :past].swapaxes(-2, -1)) * float(dh**-0.5)
    scores[..., np.greater.outer(np.arange(past), at).T] = -np.inf
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    mixed = weights @ values[:, :, :past] / weights.sum(-1, keepdims=True)
    return mixed.transpose(0, 2, 1, 3).reshape(batch, n, width) @ w_out


def serve(keys, values, past):
    answer = None
    while True:
        asked = yield answer
        if isinstance(asked, tuple):
            answer = attended(*asked, keys, values, past)
            past += asked[0].shape[1]
        else:
            answer = started(keys[asked], values[asked], past)
        asked = None  # a generator that waits keeps its variables


def started(*state):
    server = serve(*state)
    next(server)
    return server


def new_cache(batch, heads, dh, capacity, dtype):
    return started(np.zeros((batch, heads, capacity, dh), dtype), np.zeros((batch, heads, capacity, dh), dtype), 0)


def extend(cache, x, w_qkv, w_out):
    return cache.send((x, w_qkv, w_out)), cache


def reorder(cache, index):
    return cache.send(index)
