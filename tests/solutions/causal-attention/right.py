# %% float32_careful
"""Style: every array and every constant has the dtype of x, sums are in that dtype, blocks are uneven."""

import numpy as np


def attention(x, w_qkv, w_out, heads, keep=None, kv_heads=None):
    kind = x.dtype.type
    b, t, d = x.shape
    groups = heads if kv_heads is None else kv_heads
    dh = d // heads
    scale = kind(1) / np.sqrt(kind(dh))
    wq, wk, wv = np.hsplit(w_qkv, [d, d + groups * dh])
    q = (x @ wq * scale).reshape(b, t, heads, dh)
    k = (x @ wk).reshape(b, t, groups, dh)
    v = (x @ wv).reshape(b, t, groups, dh)
    out = np.zeros((b, t, heads, dh), x.dtype)
    edges = np.unique(np.linspace(0, t, num=max(2, t // 20 + 1)).astype(int))
    for first, last in zip(edges[:-1], edges[1:]):
        for h in range(heads):
            g = h // (heads // groups)
            s = np.matmul(q[:, first:last, h], k[:, :last, g].transpose(0, 2, 1))
            hide = np.zeros(s.shape, bool)
            hide |= np.arange(last) > np.arange(first, last)[:, None]
            if keep is not None:
                hide |= np.logical_not(keep)[:, None, :last]
            s[hide] = kind(-np.inf)
            top = s.max(axis=2)
            top[np.isneginf(top)] = kind(0)
            s -= top[:, :, None]
            e = np.exp(s)
            total = e.sum(axis=2, dtype=x.dtype)
            total[total == kind(0)] = kind(1)
            out[:, first:last, h] = np.matmul(e, v[:, :last, g]) / total[:, :, None]
    return np.matmul(out.reshape(b, t, d), w_out)


# %% in_place_on_copies
"""Style: in place on buffers of its own, one for all blocks of scores, results with out=."""

import numpy as np


def attention(x, w_qkv, w_out, heads, keep=None, kv_heads=None):
    x = np.array(x, copy=True, order="C")
    w_qkv = np.array(w_qkv, copy=True, order="C")
    batch, tokens, size = x.shape
    groups = heads if kv_heads is None else kv_heads
    dh = size // heads
    w_qkv[:, :size] /= np.float32(dh) ** np.float32(0.5) if x.dtype == np.float32 else dh**0.5
    fused = x @ w_qkv
    q = fused[..., :size].reshape(batch, tokens, groups, heads // groups, dh).swapaxes(1, 2)
    k = fused[..., size : size + groups * dh].reshape(batch, tokens, groups, dh)
    v = fused[..., size + groups * dh :].reshape(batch, tokens, groups, dh)
    step = max(1, min(tokens, 4000 // (heads * tokens) + 8))
    buffer = np.empty((batch, heads // groups, step, tokens), x.dtype)
    for g in range(groups):
        for start in range(0, tokens, step):
            stop = min(start + step, tokens)
            s = buffer[:, :, : stop - start, :stop]
            queries = q[:, g, start:stop].swapaxes(1, 2)
            np.matmul(queries, k[:, None, :stop, g].swapaxes(-1, -2), out=s)
            for b in range(batch):
                if keep is not None:
                    s[b][..., ~keep[b, :stop]] = -np.inf
                for t in range(start, stop):
                    s[b, :, t - start, t + 1 :] = -np.inf
            m = s.max(axis=-1, keepdims=True)
            m[m == -np.inf] = 0
            np.subtract(s, m, out=s)
            np.exp(s, out=s)
            total = s.sum(axis=-1, keepdims=True)
            total[total == 0] = 1
            np.divide(s, total, out=s)
            # The rows of x are not read any more.
            rows = x[:, start:stop].reshape(batch, stop - start, groups, heads // groups, dh)
            rows[:, :, g] = (s @ v[:, None, :stop, g]).swapaxes(1, 2)
            x[:, start:stop] = rows.reshape(batch, stop - start, size)
    return x @ w_out


# %% per_head_weights
"""Style: no heads in the data at all: each head has its own slices of both weights, and adds to y."""

import numpy as np


def single_head(x, wq, wk, wv, hidden):
    score = np.einsum("bti,ij,bsj->bts", x @ wq, np.eye(wq.shape[1], dtype=x.dtype), x @ wk)
    score = score * x.dtype.type(wq.shape[1] ** -0.5)
    score = np.where(hidden, -np.inf, score)
    score -= np.maximum(score.max(axis=-1, keepdims=True), np.finfo(x.dtype).min)
    e = np.exp(score, out=score)
    total = e.sum(axis=-1, keepdims=True)
    return e @ (x @ wv) / np.where(total, total, 1)


def attention(x, w_qkv, w_out, heads, keep=None, kv_heads=None):
    size = x.shape[-1]
    groups = kv_heads if kv_heads else heads
    dh = size // heads
    order = np.arange(x.shape[1])
    hidden = np.less(order[:, None], order)[None]
    if keep is not None:
        hidden = hidden | ~keep[:, None]
    y = np.zeros(x.shape, x.dtype)
    for h in range(heads):
        g = size + h // (heads // groups) * dh
        here, key = slice(h * dh, h * dh + dh), slice(g, g + dh)
        value = slice(g + groups * dh, g + groups * dh + dh)
        y += single_head(x, w_qkv[:, here], w_qkv[:, key], w_qkv[:, value], hidden) @ w_out[here]
    return y


# %% plain_loops
"""Style: plain loops over Python floats, arrays only at the borders."""

import math

import numpy as np


def product(row, matrix):
    return [math.fsum(a * r[j] for a, r in zip(row, matrix)) for j in range(len(matrix[0]))]


def softmax(scores):
    top = max(scores)
    powers = [math.exp(s - top) for s in scores]
    total = sum(powers)
    return [p / total for p in powers]


def attention(x, w_qkv, w_out, heads, keep=None, kv_heads=None):
    kv_heads = heads if kv_heads is None else kv_heads
    size = x.shape[2]
    dh = size // heads
    w_in, w_end = w_qkv.tolist(), w_out.tolist()
    y = np.zeros(x.shape, x.dtype)
    for b in range(x.shape[0]):
        rows = [product(token, w_in) for token in x[b].tolist()]
        for t, row in enumerate(rows):
            seen = [s for s in range(t + 1) if keep is None or keep[b][s]]
            if not seen:
                continue
            mixed = []
            for h in range(heads):
                g = h // (heads // kv_heads)
                q = row[h * dh : (h + 1) * dh]
                key, value = size + g * dh, size + (kv_heads + g) * dh
                scores = []
                for s in seen:
                    dot, key_row = 0.0, rows[s]
                    for d in range(dh):
                        dot += q[d] * key_row[key + d]
                    scores.append(dot / math.sqrt(dh))
                weights = softmax(scores)
                for column in range(value, value + dh):
                    total = 0.0
                    for weight, s in zip(weights, seen):
                        total += weight * rows[s][column]
                    mixed.append(total)
            y[b, t] = product(mixed, w_end)
    return y


# %% repaired_starter
"""Style: the starter with as few changes as will do."""

import numpy as np


def split_heads(a, dh):
    """(B, T, n * dh) -> (B, n, T, dh)."""
    B, T, _ = a.shape
    return a.reshape(B, T, -1, dh).transpose(0, 2, 1, 3)


def merge_heads(a):
    """(B, heads, T, dh) -> (B, T, D), undoes split_heads."""
    B, heads, T, dh = a.shape
    return a.transpose(0, 2, 1, 3).reshape(B, T, heads * dh)


def attention(x, w_qkv, w_out, heads, keep=None, kv_heads=None):
    B, T, D = x.shape
    dh = D // heads
    kv = (w_qkv.shape[1] - D) // 2
    q, k, v = (split_heads(a, dh) for a in np.split(x @ w_qkv, [D, D + kv], axis=-1))
    visible = np.tril(np.ones((T, T), bool))
    if keep is not None:
        visible = visible & keep[:, None, :]
    share = heads // k.shape[1]
    outputs = []
    for h in range(heads):
        scores = q[:, h] @ k[:, h // share].transpose(0, 2, 1) / np.sqrt(dh)
        scores = np.where(visible, scores, -np.inf)
        top = scores.max(axis=-1, keepdims=True)
        e = np.exp(scores - np.where(top == -np.inf, 0, top))
        total = e.sum(axis=-1, keepdims=True)
        weights = e / np.where(total == 0, 1, total)
        outputs.append(weights @ v[:, h // share])
    return (merge_heads(np.stack(outputs, axis=1)) @ w_out).astype(x.dtype)


# %% running_sums
"""Style: all sums over keys are running sums of rows that were shifted by their own maximum, backwards."""

import numpy as np


def attention(x, w_qkv, w_out, heads, keep=None, kv_heads=None):
    B, T, D = x.shape
    G = kv_heads or heads
    dh = D // heads
    q, k, v = np.split(x @ w_qkv, (D, D + G * dh), 2)
    q = q.reshape(B, T, G, heads // G, dh)
    k, v = k.reshape(B, T, G, 1, dh), v.reshape(B, T, G, 1, dh)
    one = x.dtype.type(1)
    top = np.full(q.shape[:-1], -np.inf, x.dtype)
    total = np.zeros(q.shape[:-1], x.dtype)
    mixed = np.zeros(q.shape, x.dtype)
    # Key s goes to all queries from s on that may see it; a better key shrinks what is there.
    for s in range(T):
        score = np.sum(q[:, s:] * k[:, s : s + 1], axis=-1) / x.dtype.type(np.sqrt(dh))
        if keep is not None:
            score = np.where(keep[:, s, None, None, None], score, -np.inf)
        old, new = top[:, s:], np.maximum(top[:, s:], score)
        fixed = np.where(new == -np.inf, 0, new)
        shrink, grow = np.exp(old - fixed), np.exp(score - fixed)
        total[:, s:] = total[:, s:] * shrink + grow
        mixed[:, s:] = mixed[:, s:] * shrink[..., None] + grow[..., None] * v[:, s : s + 1]
        top[:, s:] = new
    mixed *= (one / np.where(total == 0, one, total))[..., None]
    return mixed.reshape(B, T, D) @ w_out


# %% style_a
"""Style: that of last_sequence_only and others, repaired."""

import numpy as np


def split(a, heads):
    B, T, D = a.shape
    return a.reshape(B, T, heads, D // heads).transpose(0, 2, 1, 3)


def softmax(scores):
    top = scores.max(axis=-1, keepdims=True)
    e = np.exp(scores - np.where(np.isinf(top), 0, top))
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1, total)


def attention(x, w_qkv, w_out, heads, keep=None, kv_heads=None):
    B, T, D = x.shape
    groups = heads if kv_heads is None else kv_heads
    dh = D // heads
    q, k, v = np.split(x @ w_qkv, [D, D + groups * dh], axis=-1)
    q, k, v = split(q, heads), split(k, groups), split(v, groups)
    visible = np.tril(np.ones((T, T), bool))[None]
    if keep is not None:
        visible = visible & keep[:, None, :]
    out = np.empty((B, T, D), x.dtype)
    for h in range(heads):
        g = h // (heads // groups)
        scores = q[:, h] @ k[:, g].transpose(0, 2, 1) * x.dtype.type(dh**-0.5)
        weights = softmax(np.where(visible, scores, -np.inf))
        out[:, :, h * dh : (h + 1) * dh] = weights @ v[:, g]
    return out @ w_out


# %% threads
"""Style: heads in threads, positions with take, and a result in Fortran order."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np


def one_head(h, fused, size, heads, groups, visible):
    dh = size // heads
    here = np.arange(dh)
    g = h // (heads // groups)
    q = fused.take(h * dh + here, axis=2)
    k = fused.take(size + g * dh + here, axis=2)
    v = fused.take(size + groups * dh + g * dh + here, axis=2)
    out = np.zeros_like(q)
    for b in range(len(fused)):
        s = np.ma.array(q[b] @ k[b].T * fused.dtype.type(dh**-0.5), mask=~visible[b])
        with np.errstate(over="ignore"):  # of hidden ones
            e = np.exp(s - s.max(axis=1)[:, None]).filled(0)
        seen = visible[b].any(axis=1)
        out[b, seen] = e[seen] @ v[b] / e[seen].sum(axis=1)[:, None]
    return out


def attention(x, w_qkv, w_out, heads, keep=None, kv_heads=None):
    groups = kv_heads if kv_heads is not None else heads
    tokens = x.shape[1]
    real = np.ones(x.shape[:2], bool) if keep is None else keep
    visible = np.tri(tokens, dtype=bool) & real[:, None]
    work = partial(
        one_head, fused=x @ w_qkv, size=x.shape[2], heads=heads, groups=groups, visible=visible
    )
    with ThreadPoolExecutor(2) as pool:
        parts = list(pool.map(work, range(heads)))
    return np.asfortranarray(np.concatenate(parts, axis=2) @ w_out)
