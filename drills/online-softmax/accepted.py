# %% two-passes
"""The keys are read twice: first for the maximum and the sum, then for the output."""

import numpy as np

def scores_of(q, k, mask, start, block):
    s = q @ k[start : start + block].T * q.shape[1] ** -0.5
    if mask is not None:
        s[~mask[:, start : start + block]] = -np.inf
    return s

def attend(q, k, v, block, mask=None):
    starts = range(0, k.shape[0], block)
    top = np.full((len(q), 1), -np.inf)
    for start in starts:
        top = np.maximum(top, scores_of(q, k, mask, start, block).max(axis=1, keepdims=True))
    top[top == -np.inf] = 0
    total = np.zeros((len(q), 1))
    for start in starts:
        total += np.exp(scores_of(q, k, mask, start, block) - top).sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore"):
        lse = top + np.log(total)
    return weighted(q, k, v, lse, block, mask), lse[:, 0]

def weighted(q, k, v, lse, block, mask):
    o = np.zeros((len(q), v.shape[1]))
    for start in range(0, k.shape[0], block):
        o += weights(q, k, lse, start, block, mask) @ v[start : start + block]
    return o

def weights(q, k, lse, start, block, mask):
    safe = np.where(lse == -np.inf, np.inf, lse)  # exp of minus infinity is 0
    return np.exp(scores_of(q, k, mask, start, block) - safe)

def merge(o1, lse1, o2, lse2):
    lse = np.logaddexp(lse1, lse2)
    safe = np.where(lse == -np.inf, np.inf, lse)
    return o1 * np.exp(lse1 - safe)[:, None] + o2 * np.exp(lse2 - safe)[:, None], lse

def attend_backward(grad_o, q, k, v, o, lse, block, mask=None):
    dot = np.einsum("te,te->t", grad_o, o)[:, None]
    grad_q, grad_k, grad_v = [], [], []
    for start in range(0, k.shape[0], block):
        part = slice(start, start + block)
        p = weights(q, k, lse[:, None], start, block, mask)
        ds = p * (grad_o @ v[part].T - dot) * q.shape[1] ** -0.5
        grad_q = ds @ k[part] if not len(grad_q) else grad_q + ds @ k[part]
        grad_k.append(ds.T @ q)
        grad_v.append(p.T @ grad_o)
    return grad_q, np.concatenate(grad_k), np.concatenate(grad_v)

# %% log-sum-exp
"""The state is lse itself and an output that is always normalized: a block is a merge."""

import numpy as np

def attend(q, k, v, block, mask=None):
    o, lse = np.zeros((len(q), v.shape[1])), np.full(len(q), -np.inf)
    for start in range(0, len(k), block):
        keys = slice(start, start + block)
        seen = None if mask is None else mask[:, keys]
        o, lse = merge(o, lse, *_block(q, k[keys], v[keys], seen))
    return o, lse

def _block(q, k, v, mask):
    s = _scores(q, k, mask)
    lse = np.logaddexp.reduce(s, axis=1)
    return _exp(s, lse) @ v, lse

def _scores(q, k, mask):
    s = np.einsum("td,sd->ts", q, k) / np.sqrt(q.shape[1])
    return s if mask is None else np.where(mask, s, -np.inf)

def _exp(s, lse):
    with np.errstate(invalid="ignore"):
        return np.nan_to_num(np.exp(s - lse[:, None]), nan=0.0)

def merge(o1, lse1, o2, lse2):
    lse = np.logaddexp(lse1, lse2)
    w1, w2 = _exp(lse1[:, None], lse), _exp(lse2[:, None], lse)
    return w1 * o1 + w2 * o2, lse

def attend_backward(grad_o, q, k, v, o, lse, block, mask=None):
    grad_q, grad_k, grad_v = np.zeros_like(q), np.zeros_like(k), np.zeros_like(v)
    dot = np.sum(grad_o * o, axis=1)
    for start in range(0, len(k), block):
        keys = slice(start, start + block)
        p = _exp(_scores(q, k[keys], None if mask is None else mask[:, keys]), lse)
        ds = p * (grad_o @ v[keys].T - dot[:, None]) / np.sqrt(q.shape[1])
        grad_q += np.einsum("ts,sd->td", ds, k[keys])
        grad_k[keys] = np.einsum("ts,td->sd", ds, q)
        grad_v[keys] = np.einsum("ts,te->se", p, grad_o)
    return grad_q, grad_k, grad_v

# %% a-running-object
"""An object that blocks are added to; merging two of them is one more method."""

from dataclasses import dataclass

import numpy as np

@dataclass
class Running:
    top: np.ndarray
    total: np.ndarray
    sums: np.ndarray

    @classmethod
    def empty(cls, queries, features):
        return cls(np.full(queries, -np.inf), np.zeros(queries), np.zeros((queries, features)))

    @classmethod
    def of(cls, o, lse):
        return cls(lse.copy(), np.where(np.isneginf(lse), 0.0, 1.0), o.copy())

    def raise_to(self, top):
        rises = top > self.top
        factor = np.zeros_like(self.top)
        factor[~rises] = 1
        known = rises & (self.top > -np.inf)
        factor[known] = np.exp(self.top[known] - top[known])
        self.total *= factor
        self.sums *= factor[:, None]
        self.top = np.maximum(top, self.top)

    def add(self, scores, values):
        self.raise_to(scores.max(axis=1))
        alive = self.top > -np.inf
        weights = np.exp(scores[alive] - self.top[alive, None])
        self.total[alive] += weights.sum(axis=1)
        self.sums[alive] += weights @ values

    def join(self, other):
        self.raise_to(other.top)
        other.raise_to(self.top)
        self.total += other.total
        self.sums += other.sums
        return self

    def result(self):
        o, lse = np.zeros_like(self.sums), np.full_like(self.top, -np.inf)
        alive = self.total > 0
        o[alive] = self.sums[alive] / self.total[alive, None]
        lse[alive] = self.top[alive] + np.log(self.total[alive])
        return o, lse

def blocks(q, k, block, mask):
    for first in range(0, len(k), block):
        last = min(first + block, len(k))
        scores = (q / np.sqrt(q.shape[1])) @ k[first:last].T
        if mask is not None:
            scores += np.where(mask[:, first:last], 0.0, -np.inf)
        yield slice(first, last), scores

def attend(q, k, v, block, mask=None):
    running = Running.empty(len(q), v.shape[1])
    for keys, scores in blocks(q, k, block, mask):
        running.add(scores, v[keys])
    return running.result()

def merge(o1, lse1, o2, lse2):
    return Running.of(o1, lse1).join(Running.of(o2, lse2)).result()

def attend_backward(grad_o, q, k, v, o, lse, block, mask=None):
    alive = np.flatnonzero(lse > -np.inf)
    grad_q, grad_k, grad_v = np.zeros(q.shape), np.zeros(k.shape), np.zeros(v.shape)
    g, live_q = grad_o[alive], q[alive]
    dot = (g * o[alive]).sum(1)
    seen = None if mask is None else mask[alive]
    for keys, scores in blocks(live_q, k, block, seen):
        p = np.exp(scores - lse[alive, None])
        ds = (g @ v[keys].T - dot[:, None]) * p / np.sqrt(q.shape[1])
        grad_q[alive] += ds @ k[keys]
        grad_k[keys] += ds.T @ live_q
        grad_v[keys] += p.T @ g
    return grad_q, grad_k, grad_v

# %% halves
"""The keys are halved until a half fits into a block; results of halves are merged."""

import numpy as np

def attend(q, k, v, block, mask=None):
    def part(first, last):
        if last - first > block:
            middle = (first + last) // 2
            return merge(*part(first, middle), *part(middle, last))
        s = scores(q, k, first, last, mask)
        top = np.nan_to_num(s.max(axis=1), neginf=0.0)
        e = np.exp(s - top[:, None])
        return normalized(top, e.sum(axis=1), e @ v[first:last])

    return part(0, len(k))

def scores(q, k, first, last, mask):
    s = q @ k[first:last].T / q.shape[1] ** 0.5
    if mask is not None:
        np.copyto(s, -np.inf, where=~mask[:, first:last])
    return s

def normalized(top, total, sums):
    o = np.divide(sums, total[:, None], out=np.zeros_like(sums), where=total[:, None] > 0)
    log = np.log(total, out=np.full_like(total, -np.inf), where=total > 0)
    return o, top + log

def merge(o1, lse1, o2, lse2):
    # The weight of the second side is the logistic function of the difference, in its stable form.
    gap = np.subtract(lse2, lse1, out=np.zeros_like(lse1), where=np.isfinite(lse1) & np.isfinite(lse2))
    gap[np.isneginf(lse2)] = -np.inf
    gap[np.isneginf(lse1)] = np.inf
    small = np.exp(-np.abs(gap))
    share = np.where(gap > 0, 1, small) / (1 + small)
    rest = np.where(gap > 0, small, 1) / (1 + small)
    return rest[:, None] * o1 + share[:, None] * o2, np.logaddexp(lse1, lse2)

def attend_backward(grad_o, q, k, v, o, lse, block, mask=None):
    scale = q.shape[1] ** -0.5
    take_off = np.nan_to_num(lse, neginf=0.0)[:, None]
    dot = np.vecdot(grad_o, o)[:, None] if hasattr(np, "vecdot") else (grad_o * o).sum(1)[:, None]

    def part(first, last):
        if last - first > block:
            middle = (first + last) // 2
            q1, k1, v1 = part(first, middle)
            q2, k2, v2 = part(middle, last)
            return q1 + q2, np.vstack([k1, k2]), np.vstack([v1, v2])
        p = np.exp(scores(q, k, first, last, mask) - take_off)
        ds = p * (grad_o @ v[first:last].T - dot)
        return scale * ds @ k[first:last], scale * ds.T @ q, p.T @ grad_o

    return part(0, len(k))

# %% query-by-query
"""One query after the other, and for each of them block by block over the keys that it sees."""

import math

import numpy as np

def attend(q, k, v, block, mask=None):
    o, lse = np.zeros((len(q), v.shape[1])), np.empty(len(q))
    for t, query in enumerate(q):
        top, total, sums = -math.inf, 0.0, np.zeros(v.shape[1])
        for start in range(0, len(k), block):
            s, values = seen(query, k[start : start + block], v[start : start + block], t, start, mask)
            if not s.size:
                continue
            new = max(top, float(s.max()))
            e = np.exp(s - new)
            shrink = math.exp(top - new)
            total = total * shrink + float(e.sum())
            sums = sums * shrink + e @ values
            top = new
        if total:
            o[t] = sums / total
        lse[t] = top + math.log(total) if total else -math.inf
    return o, lse

def seen(query, keys, values, t, start, mask):
    if mask is not None:
        row = mask[t, start : start + len(keys)]
        keys, values = keys[row], values[row]
    return keys @ query / math.sqrt(len(query)), values

def merge(o1, lse1, o2, lse2):
    o, lse = np.zeros_like(o1), np.full_like(lse1, -math.inf)
    for t, (a, b) in enumerate(zip(lse1.tolist(), lse2.tolist(), strict=True)):
        top = max(a, b)
        if top == -math.inf:
            continue
        first, second = math.exp(a - top), math.exp(b - top)
        o[t] = (first * o1[t] + second * o2[t]) / (first + second)
        lse[t] = top + math.log(first + second)
    return o, lse

def attend_backward(grad_o, q, k, v, o, lse, block, mask=None):
    grad_q, grad_k, grad_v = (np.zeros_like(a) for a in (q, k, v))
    root = math.sqrt(q.shape[1])
    for t in range(len(q)):
        if lse[t] == -math.inf:
            continue
        c = grad_o[t] @ o[t]
        for start in range(0, len(k), block):
            rows = np.arange(start, min(start + block, len(k)))
            if mask is not None:
                rows = rows[mask[t, rows]]
            p = np.exp(k[rows] @ q[t] / root - lse[t])
            ds = p * (v[rows] @ grad_o[t] - c) / root
            grad_q[t] += ds @ k[rows]
            grad_k[rows] += np.outer(ds, q[t])
            grad_v[rows] += np.outer(p, grad_o[t])
    return grad_q, grad_k, grad_v

# %% where-reductions
"""Nothing is set to minus infinity: reductions run where the mask is true."""

import numpy as np

def pieces(q, k, block, mask):
    everything = np.ones((len(q), min(block, len(k))), bool)
    for start in range(0, len(k), block):
        stop = min(start + block, len(k))
        where = everything[:, : stop - start] if mask is None else mask[:, start:stop]
        yield slice(start, stop), (q @ k[start:stop].T) / np.sqrt(q.shape[1]), where

def exps(s, top, where):
    # exp(s - top) where it is asked for, else 0
    return np.exp(np.subtract(s, top[:, None], out=np.full_like(s, -np.inf), where=where))

def attend(q, k, v, block, mask=None):
    top = np.full(len(q), -np.inf)
    acc = np.zeros((len(q), v.shape[1] + 1))  # the last column is the sum
    for part, s, where in pieces(q, k, block, mask):
        new = np.maximum(top, np.max(s, axis=1, where=where, initial=-np.inf))
        began = np.isfinite(top)
        acc[began] *= np.exp(top[began] - new[began])[:, None]
        e = exps(s, new, where)
        acc[:, :-1] += e @ v[part]
        acc[:, -1] += e.sum(axis=1)
        top = new
    alive = acc[:, -1] > 0
    acc[~alive, -1] = 1
    return acc[:, :-1] / acc[:, -1:], top + np.log(acc[:, -1])

def merge(o1, lse1, o2, lse2):
    both = np.stack([lse1, lse2])
    top = both.max(axis=0)
    alive = top > -np.inf
    w = np.zeros_like(both)
    w[:, alive] = np.exp(both[:, alive] - top[alive])
    total = w.sum(axis=0)
    w[:, alive] /= total[alive]
    lse = top.copy()
    lse[alive] += np.log(total[alive])
    return np.einsum("it,ite->te", w, np.stack([o1, o2])), lse

def attend_backward(grad_o, q, k, v, o, lse, block, mask=None):
    out = np.zeros_like(q), np.zeros_like(k), np.zeros_like(v)
    for part, s, where in pieces(q, k, block, mask):
        p = exps(s, lse, where)
        slope = grad_o @ v[part].T
        slope -= np.sum(grad_o * o, axis=1)[:, None]
        slope *= p
        slope /= np.sqrt(q.shape[1])
        out[0][...] += slope @ k[part]
        out[1][part] = slope.T @ q
        out[2][part] = p.T @ grad_o
    return out

# %% scratch-reused
"""Everything in place on arrays that are made once for each call."""

import numpy as np

def attend(q, k, v, block, mask=None):
    size = min(block, len(k))
    scratch = np.empty((len(q), size))
    product = np.empty((len(q), v.shape[1]))
    o = np.zeros_like(product)
    total, top = np.zeros((len(q), 1)), np.full((len(q), 1), -np.inf)
    scaled = q * (1 / np.sqrt(q.shape[1]))
    done = 0
    while done < len(k):
        keys = k[done : done + block]
        s = scratch[:, : len(keys)]
        np.matmul(scaled, keys.T, out=s)
        if mask is not None:
            s[np.logical_not(mask[:, done : done + block])] = -np.inf
        old = top.copy()
        np.maximum(top, s.max(axis=1, keepdims=True), out=top)
        off = np.where(top > -np.inf, top, 0)
        old -= off
        np.exp(old, out=old)
        s -= off
        np.exp(s, out=s)
        total *= old
        total += s.sum(axis=1, keepdims=True)
        o *= old
        np.matmul(s, v[done : done + block], out=product)
        o += product
        done += block
    np.divide(o, total, out=o, where=total != 0)
    with np.errstate(divide="ignore"):
        top += np.log(total)
    return o, top.ravel()

def merge(o1, lse1, o2, lse2):
    # Whoever weighs more is the unit of measure.
    larger = lse1 >= lse2
    a, b = np.where(larger, lse1, lse2), np.where(larger, lse2, lse1)
    ratio = _ratio(a, b)
    heavy, light = np.where(larger[:, None], o1, o2), np.where(larger[:, None], o2, o1)
    light *= ratio[:, None]
    heavy += light
    heavy /= 1 + ratio[:, None]
    return heavy, a + np.log1p(ratio)

def _ratio(a, b):
    gap = np.full_like(a, -np.inf)
    np.subtract(b, a, out=gap, where=a > -np.inf)
    return np.exp(gap)

def attend_backward(grad_o, q, k, v, o, lse, block, mask=None):
    scaled = q / np.sqrt(q.shape[1])
    grad_q, grad_k, grad_v = np.zeros_like(q), np.empty_like(k), np.empty_like(v)
    off = np.where(lse > -np.inf, lse, 0)[:, None]
    dot = (grad_o * o).sum(axis=-1, keepdims=True)
    for start in range(0, len(k), block):
        part = slice(start, min(start + block, len(k)))
        p = scaled @ k[part].T
        p -= off
        if mask is not None:
            p[np.logical_not(mask[:, part])] = -np.inf
        np.exp(p, out=p)
        grad_v[part] = p.T @ grad_o
        ds = grad_o @ v[part].T
        ds -= dot
        ds *= p
        grad_q += ds @ k[part]
        grad_k[part] = ds.T @ scaled
    grad_q /= np.sqrt(q.shape[1])
    return grad_q, grad_k, grad_v

# %% einsum-and-closures
"""Closures over the queries; a list holds what is known so far, and a reduction runs over it."""

from functools import reduce

import numpy as np

def scorer(q, k, mask):
    def scores(part):
        s = np.einsum("td,sd->ts", q, k[part]) / np.sqrt(q.shape[1])
        return s if mask is None else np.where(mask[:, part], s, -np.inf)

    return scores

def spans(count, block):
    return (np.s_[i : min(i + block, count)] for i in range(0, count, block))

def safe(x):
    return np.where(np.isneginf(x), 0.0, x)

def attend(q, k, v, block, mask=None):
    scores = scorer(q, k, mask)

    def follow(state, part):
        s = scores(part)
        top = np.maximum(state[0], s.max(-1))
        values = np.concatenate([v[part], np.ones((s.shape[1], 1))], axis=1)
        fresh = np.einsum("ts,se->te", np.exp(s - safe(top)[:, None]), values)
        return top, state[1] * np.exp(state[0] - safe(top))[:, None] + fresh

    start = np.full(q.shape[0], -np.inf), np.zeros((q.shape[0], v.shape[1] + 1))
    top, sums = reduce(follow, spans(k.shape[0], block), start)
    return finish(top, sums)

def finish(top, sums):
    total = sums[:, -1] + (sums[:, -1] == 0)
    return sums[:, :-1] / total[:, None], top + np.log(total)

def merge(o1, lse1, o2, lse2):
    top = np.maximum(lse1, lse2)
    ones = np.ones((len(o1), 1))
    sums = sum(
        np.concatenate([o, ones], axis=1) * np.exp(lse - safe(top))[:, None]
        for o, lse in ((o1, lse1), (o2, lse2))
    )
    return finish(top, sums)

def attend_backward(grad_o, q, k, v, o, lse, block, mask=None):
    scores, off = scorer(q, k, mask), safe(lse)[:, None]
    dot = np.einsum("te,te->t", grad_o, o)[:, None]
    grads = np.zeros_like(q), np.zeros_like(k), np.zeros_like(v)
    for part in spans(k.shape[0], block):
        p = np.exp(scores(part) - off)
        ds = p * (np.einsum("te,se->ts", grad_o, v[part]) - dot) / np.sqrt(q.shape[1])
        grads[0][:] += np.einsum("ts,sd->td", ds, k[part])
        grads[1][part] = np.einsum("ts,td->sd", ds, q)
        grads[2][part] = np.einsum("ts,te->se", p, grad_o)
    return grads

# %% flash-tutorial-v1
# part: 1
"""Style: a tutorial of the first FlashAttention, whose output is normalized after every block."""

import numpy as np

NEG_INF = -1e10

def attend(Q, K, V, block):
    N, d = Q.shape
    scale = 1 / np.sqrt(d)
    O = np.zeros_like(Q)
    l = np.zeros((N, 1))
    m = np.full((N, 1), NEG_INF)
    Kj_blocks = np.split(K, len(K) // block)
    Vj_blocks = np.split(V, len(V) // block)
    for Kj, Vj in zip(Kj_blocks, Vj_blocks):
        S_ij = scale * np.einsum("id,jd->ij", Q, Kj)
        m_block = np.max(S_ij, axis=-1, keepdims=True)
        P_ij = np.exp(S_ij - m_block)
        l_block = np.sum(P_ij, axis=-1, keepdims=True)
        m_new = np.maximum(m, m_block)
        l_new = np.exp(m - m_new) * l + np.exp(m_block - m_new) * l_block
        O = (l / l_new) * np.exp(m - m_new) * O
        O += (np.exp(m_block - m_new) / l_new) * (P_ij @ Vj)
        l, m = l_new, m_new
    return O, (m + np.log(l))[:, 0]

# %% flash-tutorial-v2
# part: 1
"""Style: a tutorial of FlashAttention 2: tiles of queries and keys, divided once at the end."""

import math

import numpy as np

def attend(q, k, v, block):
    seq_q, head_dim = q.shape
    seq_k = k.shape[0]
    assert seq_k % block == 0
    out = np.zeros_like(q)
    lse = np.zeros(seq_q)
    for i in range(seq_q):
        q_i = q[i : i + 1] / math.sqrt(head_dim)
        acc = np.zeros((1, head_dim))
        l_i = 0.0
        m_i = float("-inf")
        for j in range(seq_k // block):
            k_j = k[j * block : (j + 1) * block]
            v_j = v[j * block : (j + 1) * block]
            s = q_i @ k_j.T
            m_ij = max(m_i, s.max())
            p = np.exp(s - m_ij)
            alpha = math.exp(m_i - m_ij)
            l_i = l_i * alpha + p.sum()
            acc = acc * alpha + p @ v_j
            m_i = m_ij
        out[i] = acc / l_i
        lse[i] = m_i + math.log(l_i)
    return out, lse

# %% one-query-at-a-time
# part: 1
"""Style: an online softmax as in a blog post, key by key, d and sum in a little class."""

import numpy as np

class OnlineSoftmax:
    def __init__(self, width):
        self.m, self.d, self.acc = -np.inf, 0.0, np.zeros(width)

    def update(self, x, value):
        m = max(self.m, x)
        self.d = self.d * np.exp(self.m - m) + np.exp(x - m)
        self.acc = self.acc * np.exp(self.m - m) + np.exp(x - m) * value
        self.m = m

def attend(q, k, v, block):
    o, lse = [], []
    for query in q:
        state = OnlineSoftmax(v.shape[1])
        for start in range(0, len(k), block):
            for key, value in zip(k[start : start + block], v[start : start + block]):
                state.update(query @ key / len(query) ** 0.5, value)
        o.append(state.acc / state.d)
        lse.append(state.m + np.log(state.d))
    return np.array(o), np.array(lse)
