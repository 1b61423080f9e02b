"""Wrong: every step works on copies of the whole buffers."""

import dataclasses

import numpy as np
from rotary import rope


@dataclasses.dataclass(frozen=True)
class Seen:
    buffer: np.ndarray  # (2, B, capacity, heads, dh)
    tokens: int


def new_cache(batch, heads, dh, capacity, dtype):
    return Seen(np.zeros((2, batch, capacity, heads, dh), dtype), 0)


def extend(cache, x, w_qkv, w_out):
    heads, dh = cache.buffer.shape[3:]
    first, last = cache.tokens, cache.tokens + x.shape[1]
    cache = dataclasses.replace(cache, buffer=cache.buffer.copy())
    q, k, v = (a.reshape(*x.shape[:2], heads, dh) for a in np.array_split(x @ w_qkv, 3, axis=2))
    positions = np.r_[first:last]
    cache.buffer[0, :, first:last] = rope(k.swapaxes(1, 2), positions).swapaxes(1, 2)
    cache.buffer[1, :, first:last] = v
    keys, values = cache.buffer[:, :, :last].swapaxes(2, 3)
    log_weights = rope(q.swapaxes(1, 2), positions) @ keys.swapaxes(2, 3) / dh**0.5
    log_weights[..., np.arange(last) > positions[:, None]] = -np.inf
    top = log_weights.max(-1, keepdims=True)
    log_weights = log_weights - top - np.log(np.exp(log_weights - top).sum(-1, keepdims=True))
    y = (np.exp(log_weights) @ values).swapaxes(1, 2).reshape(x.shape) @ w_out
    return y, dataclasses.replace(cache, tokens=last)


def reorder(cache, index):
    filled = cache.buffer[:, index, : cache.tokens]
    other = np.zeros((2, len(index), *cache.buffer.shape[2:]), filled.dtype)
    other[:, :, : cache.tokens] = filled
    return Seen(other, cache.tokens)
