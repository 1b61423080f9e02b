# %% chatty_query_by_query
"""Style: prints, asserts, a class with properties, and the queries of a piece one after another."""

import numpy as np
import rotary


class KVCache:
    def __init__(self, shape, dtype):
        self._k, self._v = np.zeros(shape, dtype), np.zeros(shape, dtype)
        self._length = 0

    @property
    def length(self):
        return self._length

    @property
    def heads(self):
        return self._k.shape[1]

    def append(self, k, v):
        assert k.shape == v.shape
        stop = self._length + k.shape[2]
        assert stop <= self._k.shape[2], "the cache is full"
        self._k[:, :, self._length : stop] = k
        self._v[:, :, self._length : stop] = v
        self._length = stop

    def upto(self, length):
        return self._k[:, :, :length], self._v[:, :, :length]

    def select(self, index):
        other = KVCache((len(index), *self._k.shape[1:]), self._k.dtype)
        for row, source in enumerate(index):
            other._k[row], other._v[row] = self._k[source], self._v[source]
        other._length = self._length
        return other


def new_cache(batch, heads, dh, capacity, dtype):
    return KVCache((batch, heads, capacity, dh), dtype)


def extend(cache, x, w_qkv, w_out):
    B, n, D = x.shape
    dh = D // cache.heads
    past = cache.length
    print("extend by", n, "after", past)
    heads_first = lambda a: np.ascontiguousarray(a.reshape(B, n, cache.heads, dh).transpose(0, 2, 1, 3))
    q, k, v = map(heads_first, (x @ w_qkv[:, :D], x @ w_qkv[:, D : 2 * D], x @ w_qkv[:, 2 * D :]))
    positions = np.array([past + i for i in range(n)])
    cache.append(rotary.rope(k, positions), v)
    q = rotary.rope(q, positions)
    rows = []
    for i in range(n):
        keys, values = cache.upto(past + i + 1)
        scores = (keys @ q[:, :, i, :, None])[..., 0] / dh**0.5
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        weights = weights / weights.sum(-1, keepdims=True)
        rows.append((weights[:, :, None] @ values)[:, :, 0].reshape(B, D))
    return np.stack(rows, axis=1) @ w_out, cache


def reorder(cache, index):
    return cache.select(index)


# %% coroutine
"""Style: the cache is a running generator, which answers what it is sent."""

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


# %% float32_careful
"""Style: every constant is cast to the dtype of x, and the result once more for good measure."""

import numpy as np
from rotary import rope


class KV:
    __slots__ = ("keys", "values", "past")

    def __init__(self, keys, values, past):
        self.keys, self.values, self.past = keys, values, past


def new_cache(batch, heads, dh, capacity, dtype):
    keys = np.zeros([batch, heads, capacity, dh], dtype=dtype)
    return KV(keys, np.zeros_like(keys), 0)


def extend(cache, x, w_qkv, w_out):
    dtype = x.dtype
    batch, n, D = x.shape
    H, dh = cache.keys.shape[1], cache.keys.shape[-1]
    scale = np.reciprocal(np.sqrt(np.asarray(dh, dtype)))
    floor = np.asarray(np.finfo(dtype).min, dtype)
    begin, end = cache.past, cache.past + n

    fused = np.matmul(x, w_qkv).reshape(batch, n, 3, H, dh)
    q = np.swapaxes(fused[:, :, 0], 1, 2)
    k = np.swapaxes(fused[:, :, 1], 1, 2)
    v = np.swapaxes(fused[:, :, 2], 1, 2)
    positions = np.arange(begin, end)
    cache.keys[:, :, begin:end] = rope(k, positions)
    cache.values[:, :, begin:end] = v
    cache.past = end

    scores = np.matmul(rope(q, positions), cache.keys[:, :, :end].transpose(0, 1, 3, 2))
    scores = np.multiply(scores, scale, dtype=dtype)
    # A large negative number will do: each row has a key that it sees.
    np.copyto(scores, floor, where=np.arange(end)[None, :] > positions[:, None])
    scores = np.subtract(scores, np.amax(scores, axis=-1, keepdims=True))
    weights = np.exp(scores, dtype=dtype)
    weights = np.divide(weights, np.sum(weights, axis=-1, keepdims=True, dtype=dtype))
    mixed = np.matmul(weights, cache.values[:, :, :end])
    y = np.matmul(np.swapaxes(mixed, 1, 2).reshape(batch, n, D), w_out)
    return y.astype(dtype, copy=False), cache


def reorder(cache, index):
    return KV(cache.keys.take(index, axis=0), cache.values.take(index, axis=0), cache.past)


# %% frozen_dataclass
"""Style: caches that never change; each names how much of a shared buffer it has seen."""

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


# %% plain_loops
"""Style: loops over numbers; a position is turned by sines and cosines of its own, a cell at a time."""

import math

import numpy as np


def turned(vector, position):
    half = len(vector) // 2
    out = list(vector)
    for i in range(half):
        angle = position * 10000.0 ** (-i / half)
        c, s = math.cos(angle), math.sin(angle)
        out[i] = vector[i] * c - vector[i + half] * s
        out[i + half] = vector[i] * s + vector[i + half] * c
    return out


def times(row, matrix):
    return [sum(a * b for a, b in zip(row, column)) for column in matrix]


def new_cache(batch, heads, dh, capacity, dtype):
    def room():
        return [[np.zeros((capacity, dh), dtype) for _ in range(heads)] for _ in range(batch)]

    return {"keys": room(), "values": room(), "filled": 0}


def extend(cache, x, w_qkv, w_out):
    B, n, D = x.shape
    heads = len(cache["keys"][0])
    dh = D // heads
    columns, out_columns = w_qkv.T.tolist(), w_out.T.tolist()
    y = np.zeros((B, n, D), dtype=x.dtype)
    for b in range(B):
        for t in range(n):
            position = cache["filled"] + t
            row = times(x[b, t].tolist(), columns)
            joined = []
            for h in range(heads):
                q = turned(row[h * dh : h * dh + dh], position)
                keys, values = cache["keys"][b][h], cache["values"][b][h]
                keys[position] = turned(row[D + h * dh : D + h * dh + dh], position)
                values[position] = row[2 * D + h * dh : 2 * D + h * dh + dh]
                top, total, mixed = -math.inf, 0.0, [0.0] * dh
                for s in range(position + 1):
                    score = sum(a * b for a, b in zip(q, keys[s].tolist())) / math.sqrt(dh)
                    higher = max(top, score)
                    shrink, weight = math.exp(top - higher), math.exp(score - higher)
                    total = total * shrink + weight
                    mixed = [m * shrink + weight * v for m, v in zip(mixed, values[s].tolist())]
                    top = higher
                joined += [m / total for m in mixed]
            y[b, t] = times(joined, out_columns)
    cache["filled"] += n
    return y, cache


def reorder(cache, index):
    return {
        "keys": [[keys.copy() for keys in cache["keys"][i]] for i in index],
        "values": [[values.copy() for values in cache["values"][i]] for i in index],
        "filled": cache["filled"],
    }


# %% style_a
"""Style: that of last_slot_missing and others, repaired."""

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
    return {"k": cache["k"][index], "v": cache["v"][index], "past": cache["past"]}


# %% style_b
"""Style: that of mixed_not_shrunk and others, repaired."""

from typing import Any, NamedTuple

import numpy as np
from rotary import rope


class Link(NamedTuple):
    before: Any
    end: int  # tokens up to here
    k: np.ndarray
    v: np.ndarray


def _links(link):
    while link.before is not None:
        yield link
        link = link.before


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


# %% style_c
"""Style: that of tail_of_a_piece_forgotten and others, repaired."""

import copy

import numpy as np
from rotary import rope


class Head:
    __slots__ = ("k", "v", "n")

    def __init__(self, capacity, dh, dtype):
        self.k, self.v, self.n = np.zeros((capacity, dh), dtype), np.zeros((capacity, dh), dtype), 0

    def see(self, q, k, v):
        """(n, dh) each; one query after another, so that no mask is needed."""
        y = np.empty_like(q)
        for t in range(len(q)):
            self.k[self.n], self.v[self.n] = k[t], v[t]
            self.n += 1
            s = self.k[: self.n] @ q[t] / np.sqrt(len(q[t]), dtype=q.dtype)
            w = np.exp(s - s.max())
            y[t] = w @ self.v[: self.n] / w.sum()
        return y


def new_cache(batch, heads, dh, capacity, dtype):
    return [[Head(capacity, dh, dtype) for _ in range(heads)] for _ in range(batch)]


def extend(cache, x, w_qkv, w_out):
    heads = len(cache[0])
    width = x.shape[2] // heads
    start = cache[0][0].n
    at = np.arange(start, start + x.shape[1])
    y = np.empty(x.shape, x.dtype)
    for row, of_row in enumerate(cache):
        qkv = x[row] @ w_qkv
        for h, head in enumerate(of_row):
            q, k, v = (qkv[:, i * x.shape[2] + h * width :][:, :width] for i in range(3))
            y[row, :, h * width : (h + 1) * width] = head.see(rope(q[None, None], at)[0, 0], rope(k[None, None], at)[0, 0], v)
    return y @ w_out, cache


def reorder(cache, index):
    return [copy.deepcopy(cache[i]) for i in index]


# %% style_d
"""Style: that of does_not_see_itself and others, repaired."""

import numpy as np
from rotary import rope

BLOCK = 32


class Store:
    def __init__(self, kv, length=0):
        self.kv, self.length = kv, length

    def put(self, k, v):
        n = k.shape[2]
        self.kv[0, :, :, self.length : self.length + n] = k
        self.kv[1, :, :, self.length : self.length + n] = v
        self.length += n

    def blocks(self, row, head):
        for start in range(0, self.length, BLOCK):
            stop = min(start + BLOCK, self.length)
            k, v = self.kv[:, row, head, start:stop].astype(np.float64)
            yield start, k, v


def new_cache(batch, heads, dh, capacity, dtype):
    return Store(np.zeros((2, batch, heads, capacity, dh), dtype))


def extend(cache, x, w_qkv, w_out):
    b, n, d = x.shape
    heads, dh = cache.kv.shape[2], cache.kv.shape[4]
    past = cache.length
    wide = x.astype(np.float64) @ w_qkv.astype(np.float64)
    q, k, v = wide.reshape(b, n, 3, heads, dh).transpose(2, 0, 3, 1, 4)
    q, k = rope(q, past + np.arange(n)), rope(k, past + np.arange(n))
    cache.put(k, v)
    out = np.empty((b, n, d))
    for row in range(b):
        for head in range(heads):
            top, total, y = np.full(n, -np.inf), np.zeros(n), np.zeros((n, dh))
            for start, keys, values in cache.blocks(row, head):
                s = q[row, head] @ keys.T / np.sqrt(dh)
                s[start + np.arange(len(keys)) > past + np.arange(n)[:, None]] = -np.inf
                higher = np.maximum(top, s.max(1))
                e, shrink = np.exp(s - higher[:, None]), np.exp(top - higher)
                top, total, y = higher, total * shrink + e.sum(1), y * shrink[:, None] + e @ values
            out[row, :, head * dh : (head + 1) * dh] = y / total[:, None]
    return (out @ w_out.astype(np.float64)).astype(x.dtype), cache


def reorder(cache, index):
    return Store(cache.kv[:, index], cache.length)


# %% style_e
"""Style: that of two_faults_inverse_and_length and others, repaired."""

import numpy as np
from rotary import rope

STEP = 16


def new_cache(batch, heads, dh, capacity, dtype):
    return np.zeros((2, capacity, batch, heads, dh), dtype), 0


def extend(cache, x, w_qkv, w_out):
    buffer, past = cache
    b, n, d = x.shape
    heads, dh = buffer.shape[3:]
    qkv = (x @ w_qkv).reshape(b, n, 3, heads, dh)
    buffer[:, past : past + n] = qkv[:, :, 1:].transpose(2, 1, 0, 3, 4)
    q = rope(qkv[:, :, 0].transpose(0, 2, 1, 3), np.arange(past, past + n))

    end = past + n
    s = np.full((b, heads, n, end), -np.inf, x.dtype)
    for start in range(0, end, STEP):
        at = np.arange(start, min(end, start + STEP))
        keys = rope(buffer[0, at].transpose(1, 2, 0, 3), at)
        s[..., at] = q @ keys.transpose(0, 1, 3, 2) / x.dtype.type(dh) ** x.dtype.type(0.5)
    for t in range(n):
        s[:, :, t, past + t + 1 :] = -np.inf
    s -= s.max(axis=3, keepdims=True)
    np.exp(s, out=s)
    s /= s.sum(axis=3, keepdims=True)
    y = s @ buffer[1, :end].transpose(1, 2, 0, 3)
    return y.transpose(0, 2, 1, 3).reshape(b, n, d) @ w_out, (buffer, end)


def reorder(cache, index):
    buffer, past = cache
    return buffer[:, :, index], past


# %% tokens_in_a_list
"""Style: a Python list with an array for each token; scores are made one by one."""

import numpy as np
from rotary import rope


def new_cache(batch, heads, dh, capacity, dtype):
    return {"tokens": [], "heads": heads}


def extend(cache, x, w_qkv, w_out):
    tokens, heads = cache["tokens"], cache["heads"]
    batch, n, width = x.shape
    dh = width // heads
    outputs = []
    for t in range(n):
        qkv = (x[:, t] @ w_qkv).reshape(batch, 3, heads, dh)
        here = np.array([len(tokens)])
        q, k = (rope(qkv[:, i, :, None], here)[:, :, 0] for i in (0, 1))
        tokens.append((k, qkv[:, 2].copy()))
        scores = np.empty((len(tokens), batch, heads), x.dtype)
        for s, (k, _) in enumerate(tokens):
            scores[s] = (q * k).sum(-1) * dh**-0.5
        weights = np.exp(scores - scores.max(0))
        weights /= weights.sum(0)
        mixed = np.zeros_like(q)
        for weight, (_, v) in zip(weights, tokens):
            mixed += weight[..., None] * v
        outputs.append(mixed.reshape(batch, width) @ w_out)
    return np.stack(outputs, axis=1), cache


def reorder(cache, index):
    return {**cache, "tokens": [(k[index], v[index]) for k, v in cache["tokens"]]}
