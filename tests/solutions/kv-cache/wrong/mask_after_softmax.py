"""Wrong: weights of hidden tokens are set to 0 after they had their share."""

import numpy as np
from rotary import rope


def attended(x, w_qkv, w_out, keys, values, past):
    heads, dh = keys.shape[1], keys.shape[3]
    batch, n, width = x.shape
    q, k, v = (x @ w_qkv).reshape(batch, n, 3, heads, dh).transpose(2, 0, 3, 1, 4)
    at = np.arange(past, past + n)
    keys[:, :, past : past + n], values[:, :, past : past + n] = rope(k, at), v
    past += n
    scores = np.matmul(rope(q, at), keys[:, :, :past].swapaxes(-2, -1)) * float(dh**-0.5)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights = weights / weights.sum(-1, keepdims=True)
    weights[..., np.greater.outer(np.arange(past), at).T] = 0
    mixed = weights @ values[:, :, :past]
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
