# %% class-with-state
"""Style: a dataclass holds sizes and weights, a generator gives the rows block by block."""

from dataclasses import dataclass

import numpy as np

@dataclass(frozen=True)
class Layer:
    w_qkv: np.ndarray
    w_out: np.ndarray
    heads: int
    kv_heads: int

    @property
    def width(self):
        return self.w_out.shape[0] // self.heads

    def cut(self, x):
        names, start = {}, 0
        for name, count in (("q", self.heads), ("k", self.kv_heads), ("v", self.kv_heads)):
            stop = start + count * self.width
            part = x @ self.w_qkv[:, start:stop]
            names[name] = np.moveaxis(part.reshape(*x.shape[:2], count, self.width), 2, 1)
            start = stop
        return names

    def rows(self, x, keep, size=24):
        cut = self.cut(x)
        per_group = self.heads // self.kv_heads
        tokens = x.shape[1]
        for first in range(0, tokens, size):
            stop = min(first + size, tokens)
            causal = np.arange(stop) <= np.arange(first, stop)[:, None]
            seen = causal[None] & (np.ones(stop, bool) if keep is None else keep[:, None, :stop])
            heads = []
            for h in range(self.heads):
                k, v = cut["k"][:, h // per_group, :stop], cut["v"][:, h // per_group, :stop]
                s = cut["q"][:, h, first:stop] @ np.swapaxes(k, -1, -2)
                s = s / float(self.width) ** 0.5
                heads.append(self.normalized(s, seen) @ v)
            yield np.concatenate(heads, axis=-1) @ self.w_out

    @staticmethod
    def normalized(s, seen):
        s = np.where(seen, s, s.dtype.type("-inf"))
        best = s.max(-1, keepdims=True)
        s = np.where(np.isfinite(best), s - np.where(np.isfinite(best), best, 0), -np.inf)
        e = np.exp(s)
        return e / np.maximum(e.sum(-1, keepdims=True), np.finfo(e.dtype).tiny)

def attention(x, w_qkv, w_out, heads, keep=None, kv_heads=None):
    layer = Layer(w_qkv, w_out, heads, kv_heads or heads)
    return np.concatenate(list(layer.rows(x, keep)), axis=1)

# %% einsum-per-query-block
"""Style: einsum over (B, T, G, R, dh) without moving axes; float64 inside; blocks of 16 queries."""

import numpy as np

def attention(x, w_qkv, w_out, heads, keep=None, kv_heads=None):
    batch, tokens, features = x.shape
    groups = kv_heads or heads
    width = features // heads
    fused = np.einsum("btd,de->bte", x.astype(np.float64), w_qkv.astype(np.float64))
    q = fused[..., :features].reshape(batch, tokens, groups, heads // groups, width)
    k, v = fused[..., features:].reshape(batch, tokens, 2, groups, width).transpose(2, 0, 1, 3, 4)
    mixed = np.zeros((batch, tokens, features))
    for first in range(0, tokens, 16):
        last = min(first + 16, tokens)
        s = np.einsum("btgrd,bsgd->bgrts", q[:, first:last], k[:, :last]) / np.sqrt(width)
        hidden = np.arange(last)[None, :] > np.arange(first, last)[:, None]
        if keep is not None:
            hidden = hidden[None] | ~keep[:, None, :last]
            hidden = hidden[:, None, None]
        s[np.broadcast_to(hidden, s.shape)] = -np.inf
        s -= np.nan_to_num(s.max(-1), neginf=0.0)[..., None]
        np.exp(s, out=s)
        with np.errstate(invalid="ignore"):
            s /= s.sum(-1)[..., None]
        s[np.isnan(s)] = 0
        piece = np.einsum("bgrts,bsgd->btgrd", s, v[:, :last])
        mixed[:, first:last] = piece.reshape(batch, last - first, features)
    return np.einsum("btd,de->bte", mixed, w_out.astype(np.float64)).astype(x.dtype)

# %% head-by-head
"""Style: a loop over sequences and heads with whole matrices; padding is removed, not hidden."""

import numpy as np

def softmax(s):
    e = np.exp(s - s.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)

def attention(x, w_qkv, w_out, heads, keep=None, kv_heads=None):
    if kv_heads is None:
        kv_heads = heads
    D = x.shape[2]
    dh = D // heads
    y = []
    for b, tokens in enumerate(x):
        place = np.arange(len(tokens))
        real = place if keep is None else place[keep[b]]
        fused = tokens @ w_qkv
        queries, keys, values = np.split(fused, [D, D + kv_heads * dh], axis=1)
        columns = []
        for h in range(heads):
            g = h * kv_heads // heads
            q = queries[:, h * dh : (h + 1) * dh]
            k = keys[real, g * dh : (g + 1) * dh]
            v = values[real, g * dh : (g + 1) * dh]
            o = np.zeros_like(q)
            # Queries before the first real token see nobody.
            some = place[place >= real[0]] if real.size else place[:0]
            if some.size:
                s = q[some] @ k.T * x.dtype.type(dh**-0.5)
                s[real[None, :] > some[:, None]] = -np.inf
                o[some] = softmax(s) @ v
            columns.append(o)
        y.append(np.hstack(columns) @ w_out)
    return np.stack(y)

# %% log-sum-exp
"""Style: weights are exp(score - logsumexp), by logaddexp; closures, one for each head."""

import math

import numpy as np

def attention(x, w_qkv, w_out, heads, keep=None, kv_heads=None):
    size = x.shape[-1]
    dh = size // heads
    ratio = heads // (kv_heads or heads)
    fused = x.astype(np.float64) @ w_qkv.astype(np.float64)
    k_from, v_from = size, size + heads // ratio * dh
    causal = np.triu(np.full((x.shape[1], x.shape[1]), -math.inf), 1)
    padding = 0.0 if keep is None else np.where(keep, 0.0, -math.inf)[:, None, :]

    def columns(start, n):
        return fused[..., start + n * dh : start + (n + 1) * dh]

    def head(h):
        s = columns(0, h) @ columns(k_from, h // ratio).swapaxes(1, 2)
        s /= math.sqrt(dh)
        s += causal
        s += padding
        lse = np.logaddexp.reduce(s, axis=-1, keepdims=True)
        lse[np.isinf(lse)] = 0
        s -= lse
        return np.exp(s, out=s) @ columns(v_from, h // ratio)

    return (np.concatenate([head(h) for h in range(heads)], axis=-1) @ w_out).astype(x.dtype)

# %% masked-columns
"""Style: no head is ever cut out; for each head all other query columns are 0, and sums see the rest."""

import numpy as np

def attention(x, w_qkv, w_out, heads, keep=None, kv_heads=None):
    batch, tokens, features = x.shape
    groups = heads if kv_heads is None else kv_heads
    width = features // heads
    wq = w_qkv[:, :features]
    wk = w_qkv[:, features : features + groups * width]
    wv = w_qkv[:, features + groups * width :]
    # Weights with a column for every query head: a copied group is the same as a shared one.
    own = np.arange(features)
    shared = own // width // (heads // groups) * width + own % width
    q, k, v = x @ wq, x @ wk[:, shared], x @ wv[:, shared]
    y = np.zeros_like(q)
    before = np.tril(np.ones((tokens, tokens), dtype=bool))
    see = before[None] if keep is None else before[None] & keep[:, None, :]
    for h in range(heads):
        in_head = (own // width == h).astype(x.dtype)
        scores = (q * in_head) @ np.swapaxes(k, 1, 2)
        scores /= np.array(width**0.5, x.dtype)
        top = np.max(scores, axis=2, keepdims=True, initial=-np.inf, where=see)
        top[top == -np.inf] = 0
        scores -= top
        np.exp(scores, out=scores, where=see)
        scores *= 0 + see
        total = scores.sum(axis=2, keepdims=True)
        scores /= total + (total == 0)
        y += scores @ (v * in_head)
        del scores
    return y @ w_out

# %% online-softmax
"""Style: tiles of queries and of keys with a running maximum and rescaled sums, as flash attention."""

import math

import numpy as np

TILE = 40

def attention(x, w_qkv, w_out, heads, keep=None, kv_heads=None):
    B, T, D = x.shape
    G = heads if kv_heads is None else kv_heads
    dh = D // heads
    qkv = x @ w_qkv
    out = np.zeros((B, T, D), x.dtype)
    for h in range(heads):
        g = h // (heads // G)
        q = qkv[:, :, h * dh : (h + 1) * dh] / math.sqrt(dh)
        k = qkv[:, :, D + g * dh : D + (g + 1) * dh]
        v = qkv[:, :, D + (G + g) * dh : D + (G + g + 1) * dh]
        for i in range(0, T, TILE):
            rows = np.arange(i, min(i + TILE, T))
            top = np.full((B, rows.size), -np.inf, x.dtype)
            total = np.zeros((B, rows.size), x.dtype)
            acc = np.zeros((B, rows.size, dh), x.dtype)
            for j in range(0, i + TILE, TILE):
                cols = np.arange(j, min(j + TILE, T))
                if cols.size == 0:
                    break
                see = np.broadcast_to(rows[:, None] >= cols, (B, rows.size, cols.size))
                if keep is not None:
                    see = see & keep[:, None, cols]
                s = np.where(see, q[:, rows] @ k[:, cols].transpose(0, 2, 1), -np.inf)
                new = np.maximum(top, s.max(-1))
                safe = np.where(np.isinf(new), 0, new)
                shrink = np.exp(np.where(np.isinf(top), -np.inf, top - safe))
                e = np.exp(s - safe[..., None])
                total = total * shrink + e.sum(-1)
                acc = acc * shrink[..., None] + e @ v[:, cols]
                top = new
            seen = total > 0
            total[~seen] = 1
            out[:, i : i + rows.size, h * dh : (h + 1) * dh] = acc / total[..., None]
    return out @ w_out

# %% stride-tricks
"""Style: heads are views made by as_strided; shared heads by a stride of 0; one query row at a time."""

import numpy as np
from numpy.lib.stride_tricks import as_strided

def attention(x, w_qkv, w_out, heads, keep=None, kv_heads=None):
    B, T, D = x.shape
    G = heads if kv_heads is None else kv_heads
    R, dh = heads // G, D // heads
    qkv = np.ascontiguousarray(x @ w_qkv)
    b, t, c = qkv.strides
    q = as_strided(qkv, (B, G, R, T, dh), (b, R * dh * c, dh * c, t, c))
    k = as_strided(qkv[:, :, D:], (B, G, R, T, dh), (b, dh * c, 0, t, c))
    v = as_strided(qkv[:, :, D + G * dh :], (B, G, R, T, dh), (b, dh * c, 0, t, c))
    real = np.ones((B, T), bool) if keep is None else keep
    mixed = np.empty((B, T, D), x.dtype)
    o = as_strided(
        mixed,
        (B, G, R, T, dh),
        (mixed.strides[0], R * dh * c, dh * c, mixed.strides[1], c),
    )
    root = x.dtype.type(np.sqrt(dh))
    for n in range(T):
        s = (q[..., n : n + 1, :] * k[..., : n + 1, :]).sum(-1) / root
        s = np.where(real[:, None, None, : n + 1], s, x.dtype.type(-np.inf))
        m = s.max(-1, keepdims=True)
        e = np.exp(s - np.where(np.isneginf(m), x.dtype.type(0), m))
        z = e.sum(-1, keepdims=True)
        p = np.divide(e, z, out=np.zeros_like(e), where=z > 0)
        o[..., n, :] = (p[..., None] * v[..., : n + 1, :]).sum(-2)
    return mixed @ w_out

# %% token-by-token
"""Style: a decoder's loop with a list of keys and values that grows by every real token."""

import numpy as np

def step(query, keys, values, heads, groups):
    """(D,), n times (G, dh) -> (heads, dh)."""
    width = query.size // heads
    if not keys:
        return np.zeros((heads, width), query.dtype)
    k, v = np.array(keys), np.array(values)
    q = query.reshape(groups, heads // groups, width)
    s = np.einsum("grd,ngd->grn", q, k) / np.array(width, query.dtype) ** 0.5
    p = np.exp(s - s.max(axis=-1, keepdims=True))
    p /= p.sum(axis=-1, keepdims=True)
    return np.einsum("grn,ngd->grd", p, v).reshape(heads, width)

def attention(x, w_qkv, w_out, heads, keep=None, kv_heads=None):
    groups = heads if kv_heads is None else kv_heads
    features = x.shape[-1]
    width = features // heads
    y = np.empty((*x.shape[:2], w_out.shape[1]), x.dtype)
    for b in range(x.shape[0]):
        keys, values = [], []
        for t in range(x.shape[1]):
            row = x[b, t] @ w_qkv
            if keep is None or keep[b, t]:
                keys.append(row[features : features + groups * width].reshape(groups, width))
                values.append(row[features + groups * width :].reshape(groups, width))
            y[b, t] = step(row[:features], keys, values, heads, groups).reshape(-1) @ w_out
    return y

# %% small-gpt
# part: 1
"""Style: a small GPT's causal self-attention with a registered mask."""

import math

import numpy as np

class CausalSelfAttention:
    def __init__(self, c_attn, c_proj, n_head, block_size):
        self.c_attn, self.c_proj, self.n_head = c_attn, c_proj, n_head
        self.bias = np.tril(np.ones((block_size, block_size)))[None, None]

    def __call__(self, x):
        B, T, C = x.shape
        q, k, v = np.split(x @ self.c_attn, 3, axis=2)
        k = k.reshape(B, T, self.n_head, C // self.n_head).swapaxes(1, 2)
        q = q.reshape(B, T, self.n_head, C // self.n_head).swapaxes(1, 2)
        v = v.reshape(B, T, self.n_head, C // self.n_head).swapaxes(1, 2)
        att = (q @ k.swapaxes(-2, -1)) * (1.0 / math.sqrt(k.shape[-1]))
        att = np.where(self.bias[:, :, :T, :T] == 0, float("-inf"), att)
        att = softmax(att)
        y = (att @ v).swapaxes(1, 2).reshape(B, T, C)
        return y @ self.c_proj

def softmax(x):
    exp_x = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return exp_x / np.sum(exp_x, axis=-1, keepdims=True)

def attention(x, w_qkv, w_out, heads):
    return CausalSelfAttention(w_qkv, w_out, heads, block_size=1024)(x)

# %% sixty-lines
# part: 1
"""Style: a GPT in sixty lines of numpy: lists of heads and a mask of -1e10 that is added."""

import numpy as np

def softmax(x):
    exp_x = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return exp_x / np.sum(exp_x, axis=-1, keepdims=True)

def head(q, k, v, mask):
    return softmax(q @ k.T / np.sqrt(q.shape[-1]) + mask) @ v

def mha(x, c_attn, c_proj, n_head):
    qkv = np.split(x @ c_attn, 3, axis=-1)
    qkv_heads = [np.split(a, n_head, axis=-1) for a in qkv]
    causal_mask = (1 - np.tri(x.shape[0], dtype=x.dtype)) * -1e10
    return np.hstack([head(q, k, v, causal_mask) for q, k, v in zip(*qkv_heads)]) @ c_proj

def attention(x, w_qkv, w_out, heads):
    return np.stack([mha(sequence, w_qkv, w_out, heads) for sequence in x])

# %% library-masks
# part: 2
"""Style: a library's model, with an additive mask of the smallest number of the dtype."""

import numpy as np

def _expand_mask(mask, dtype, tgt_len):
    bsz, src_len = mask.shape
    expanded = np.broadcast_to(mask[:, None, None, :], (bsz, 1, tgt_len, src_len)).astype(dtype)
    inverted = 1.0 - expanded
    return np.where(inverted.astype(bool), np.finfo(dtype).min, inverted).astype(dtype)

def _make_causal_mask(tgt_len, dtype):
    mask = np.full((tgt_len, tgt_len), np.finfo(dtype).min, dtype)
    cond = np.arange(tgt_len)
    mask[cond < (cond + 1).reshape(-1, 1)] = 0
    return mask[None, None]

def attention(x, w_qkv, w_out, heads, keep=None):
    bsz, q_len, hidden = x.shape
    head_dim = hidden // heads
    scaling = head_dim**-0.5

    def shape(t):
        return t.reshape(bsz, q_len, heads, head_dim).transpose(0, 2, 1, 3)

    query, key, value = (shape(t) for t in np.split(x @ w_qkv, 3, axis=-1))
    attn_weights = np.matmul(query, key.swapaxes(2, 3)) * scaling
    mask = _make_causal_mask(q_len, x.dtype)
    if keep is not None:
        mask = np.minimum(mask, _expand_mask(keep, x.dtype, q_len))
    attn_weights = np.where(mask < 0, mask, attn_weights)
    attn_weights = np.exp(attn_weights - attn_weights.max(-1, keepdims=True))
    attn_weights /= attn_weights.sum(-1, keepdims=True)
    attn_output = np.matmul(attn_weights, value).transpose(0, 2, 1, 3)
    return attn_output.reshape(bsz, q_len, hidden) @ w_out
