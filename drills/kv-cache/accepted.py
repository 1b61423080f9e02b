# %% a-cache-per-head
"""Style: one small object per sequence and head, each with its own softmax; loops over all of them."""

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

# %% closures
"""Style: the cache is a closure that attends and forks; nothing else is known of it."""

import numpy as np
from rotary import rope

def _open(keys, values, seen):
    heads, capacity, dh = keys.shape[1:]
    scale = 1.0 / float(np.sqrt(dh))

    def attend(x, w_qkv, w_out):
        nonlocal seen
        b, n, d = x.shape
        q, k, v = np.moveaxis((x @ w_qkv).reshape(b, n, 3, heads, dh), (2, 3), (0, 2))
        at = seen + np.arange(n)
        keys[:, :, at], values[:, :, at] = rope(k, at), v
        seen += n
        s = rope(q, at) @ np.swapaxes(keys[:, :, :seen], -1, -2) * scale
        s[..., at[:, None] < np.arange(seen)] = -np.inf
        e = np.exp(s - s.max(-1)[..., None])
        o = (e @ values[:, :, :seen]) / e.sum(-1)[..., None]
        return np.concatenate(list(o.swapaxes(0, 1)), axis=-1) @ w_out

    def fork(index):
        return _open(np.take(keys, index, 0), np.take(values, index, 0), seen)

    return attend, fork

def new_cache(batch, heads, dh, capacity, dtype):
    return _open(*np.zeros((2, batch, heads, capacity, dh), dtype), 0)

def extend(cache, x, w_qkv, w_out):
    return cache[0](x, w_qkv, w_out), cache

def reorder(cache, index):
    return cache[1](index)

# %% complex-turns-from-a-thousand
"""Style: complex numbers turn the pairs, and positions begin at 1,000, which scores do not see."""

import numpy as np

ORIGIN = 1000

def _turn(a, at):
    half = a.shape[-1] // 2
    z = (a[..., :half] + 1j * a[..., half:]) * np.exp(1j * np.multiply.outer(at, 1e4 ** -(np.arange(half) / half)))
    return np.concatenate([z.real, z.imag], -1).astype(a.dtype)

class new_cache:
    def __init__(self, batch, heads, dh, capacity, dtype):
        self.kt = np.zeros((batch, heads, dh, capacity), dtype)
        self.v = np.zeros((batch, heads, capacity, dh), dtype)
        self.next = ORIGIN

    @property
    def used(self):
        return self.next - ORIGIN

    def __getitem__(self, index):
        copy = object.__new__(new_cache)
        copy.kt, copy.v, copy.next = self.kt[index], self.v[index], self.next
        return copy

def extend(cache, x, w_qkv, w_out):
    n, d = x.shape[1:]
    h, dh = cache.kt.shape[1:3]
    cut = [np.stack(np.split(a, h, -1), 1) for a in np.split(x @ w_qkv, 3, -1)]
    at = cache.next + np.arange(n)
    free = slice(cache.used, cache.used + n)
    cache.kt[..., free] = _turn(cut[1], at).swapaxes(2, 3)
    cache.v[:, :, free] = cut[2]
    cache.next += n
    s = _turn(cut[0], at) @ cache.kt[..., : cache.used]
    s *= dh**-0.5
    s[..., ~np.tri(n, cache.used, cache.used - n, dtype=bool)] = -np.inf
    s -= np.max(s, -1, keepdims=True)
    e = np.exp(s)
    y = np.divide(e, e.sum(-1, keepdims=True)) @ cache.v[:, :, : cache.used]
    return y.swapaxes(1, 2).reshape(*x.shape) @ w_out, cache

def reorder(cache, index):
    return cache[np.asarray(index)]

# %% einsum-and-dicts
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

# %% float64-by-blocks
"""Style: float64 inside, for 32 slots of one head at a time; results are cast at the end."""

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

# %% linked-pieces
"""Style: no buffer at all; an immutable chain of pieces, joined by an online softmax."""

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

# %% pages
"""Style: a page table for each sequence; beams share full pages, and a page that is written to is copied."""

import numpy as np
from rotary import rope

PAGE = 16

class Table:
    def __init__(self, rows, heads, dh, capacity, dtype, length):
        self.rows, self.heads, self.dh = rows, heads, dh
        self.capacity, self.dtype, self.length = capacity, dtype, length

    def append(self, row, kv):
        """kv (2, heads, n, dh)."""
        at = self.length
        for token in range(kv.shape[2]):
            if at % PAGE == 0:
                room = min(PAGE, self.capacity - at)
                self.rows[row].append(np.zeros((2, self.heads, room, self.dh), self.dtype))
            self.rows[row][-1][:, :, at % PAGE] = kv[:, :, token]
            at += 1

def new_cache(batch, heads, dh, capacity, dtype):
    return Table([[] for _ in range(batch)], heads, dh, capacity, dtype, 0)

def extend(cache, x, w_qkv, w_out):
    batch, n, width = x.shape
    at = np.arange(cache.length, cache.length + n)
    qkv = (x @ w_qkv).reshape(batch, n, 3, cache.heads, cache.dh).transpose(2, 0, 3, 1, 4)
    q, k = rope(qkv[0], at), rope(qkv[1], at)
    y = np.empty((batch, n, width), x.dtype)
    for row in range(batch):
        cache.append(row, np.stack([k[row], qkv[2, row]]))
        pages = cache.rows[row]
        scores = np.concatenate([q[row] @ page[0].swapaxes(1, 2) for page in pages], axis=2)
        scores *= 1 / cache.dh**0.5
        scores = np.where(np.arange(scores.shape[2]) > at[:, None], -np.inf, scores)
        weights = np.exp(scores - scores.max(2, keepdims=True))
        weights /= weights.sum(2, keepdims=True)
        parts = np.split(weights, range(PAGE, weights.shape[2], PAGE), axis=2)
        mixed = sum(part @ page[1] for part, page in zip(parts, pages))
        y[row] = mixed.swapaxes(0, 1).reshape(n, width) @ w_out
    cache.length += n
    return y, cache

def reorder(cache, index):
    full = cache.length // PAGE
    rows = []
    for source in index:
        pages = cache.rows[source]
        rows.append(pages[:full] + [page.copy() for page in pages[full:]])
    return Table(rows, cache.heads, cache.dh, cache.capacity, cache.dtype, cache.length)

# %% repaired-starter
"""Style: the starter with the least that has to change."""

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

# %% turned-when-read
"""Style: keys are kept as they are, and turned block by block each time they are read."""

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

# %% dynamic-cache
# part: 2
"""As in Hugging Face's models: a cache object that concatenates, and index_select for candidates."""

import numpy as np
from rotary import rope

class DynamicCache:
    def __init__(self):
        self.key_cache = None
        self.value_cache = None

    def get_seq_length(self):
        return 0 if self.key_cache is None else self.key_cache.shape[-2]

    def update(self, key_states, value_states):
        if self.key_cache is None:
            self.key_cache, self.value_cache = key_states, value_states
        else:
            self.key_cache = np.concatenate([self.key_cache, key_states], axis=-2)
            self.value_cache = np.concatenate([self.value_cache, value_states], axis=-2)
        return self.key_cache, self.value_cache

    def batch_select_indices(self, indices):
        other = DynamicCache()
        other.num_heads = self.num_heads
        if self.key_cache is not None:
            other.key_cache = np.take(self.key_cache, indices, axis=0)
            other.value_cache = np.take(self.value_cache, indices, axis=0)
        return other

def new_cache(batch, heads, dh, capacity, dtype):
    cache = DynamicCache()
    cache.num_heads = heads
    return cache

def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)

def extend(cache, x, w_qkv, w_out):
    bsz, q_len, hidden_size = x.shape
    head_dim = hidden_size // cache.num_heads
    past = cache.get_seq_length()
    query, key, value = np.split(x @ w_qkv, 3, axis=2)
    query = query.reshape(bsz, q_len, -1, head_dim).transpose(0, 2, 1, 3)
    key = key.reshape(bsz, q_len, -1, head_dim).transpose(0, 2, 1, 3)
    value = value.reshape(bsz, q_len, -1, head_dim).transpose(0, 2, 1, 3)
    cache_position = np.arange(past, past + q_len)
    query, key = rope(query, cache_position), rope(key, cache_position)
    key, value = cache.update(key, value)

    kv_len = key.shape[-2]
    mask = np.full((q_len, kv_len), np.finfo(x.dtype).min, dtype=x.dtype)
    mask *= np.arange(kv_len) > cache_position.reshape(-1, 1)
    attn_weights = np.matmul(query, key.transpose(0, 1, 3, 2)) / np.sqrt(head_dim).astype(x.dtype)
    attn_weights = softmax(attn_weights + mask).astype(query.dtype)
    attn_output = np.matmul(attn_weights, value)
    attn_output = attn_output.transpose(0, 2, 1, 3).reshape(bsz, q_len, hidden_size)
    return attn_output @ w_out, cache

def reorder(cache, index):
    return cache.batch_select_indices(index)

# %% static-cache-and-tril
# part: 2
"""As in small inference engines: buffers of the largest size, and a triangle kept beside them."""

import numpy as np
from rotary import rope

class KVCache:
    def __init__(self, max_batch_size, max_seq_length, n_heads, head_dim, dtype):
        cache_shape = (max_batch_size, n_heads, max_seq_length, head_dim)
        self.k_cache = np.zeros(cache_shape, dtype=dtype)
        self.v_cache = np.zeros(cache_shape, dtype=dtype)
        self.causal_mask = np.tril(np.ones((max_seq_length, max_seq_length), dtype=bool))
        self.pos = 0

    def update(self, input_pos, k_val, v_val):
        assert input_pos.shape[0] == k_val.shape[2]
        self.k_cache[:, :, input_pos] = k_val
        self.v_cache[:, :, input_pos] = v_val
        return self.k_cache, self.v_cache

def new_cache(batch, heads, dh, capacity, dtype):
    return KVCache(batch, capacity, heads, dh, dtype)

def extend(cache, x, w_qkv, w_out):
    B, T, C = x.shape
    n_head, head_dim = cache.k_cache.shape[1], cache.k_cache.shape[3]
    input_pos = np.arange(cache.pos, cache.pos + T)
    if input_pos[-1] >= cache.k_cache.shape[2]:
        raise ValueError("the cache is full")
    q, k, v = np.split(x @ w_qkv, 3, axis=-1)
    k = k.reshape(B, T, n_head, head_dim).swapaxes(1, 2)
    q = q.reshape(B, T, n_head, head_dim).swapaxes(1, 2)
    v = v.reshape(B, T, n_head, head_dim).swapaxes(1, 2)
    q, k = rope(q, input_pos), rope(k, input_pos)
    k, v = cache.update(input_pos, k, v)
    cache.pos += T

    att = (q @ k.swapaxes(-2, -1)) * x.dtype.type(1.0 / np.sqrt(head_dim))
    att = np.where(cache.causal_mask[None, None, input_pos], att, -np.inf)
    att = np.exp(att - att.max(-1, keepdims=True))
    att = att / att.sum(-1, keepdims=True)
    y = (att @ v).swapaxes(1, 2).reshape(B, T, C)
    return y @ w_out, cache

def reorder(cache, index):
    new = KVCache.__new__(KVCache)
    new.k_cache, new.v_cache = cache.k_cache[index], cache.v_cache[index]
    new.causal_mask, new.pos = cache.causal_mask, cache.pos
    return new
