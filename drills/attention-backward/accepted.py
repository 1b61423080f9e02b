# %% a-layer-as-an-object
"""The ctx is an object with its own backward pass."""

import numpy as np

WHY = dict(zip(["sum-is-zero", "blind-spot"], "bd"))

class Attention:
    def __init__(self, q, k, v, causal):
        self.q, self.k, self.v, self.causal = q, k, v, causal
        self.scale = q.dtype.type(1 / np.sqrt(q.shape[2]))
        s = self.scores()
        self.m = s.max(axis=2)
        self.m[np.isinf(self.m)] = 0
        self.z = np.exp(s - self.m[:, :, None]).sum(axis=2)
        self.z[self.z == 0] = 1

    def scores(self):
        s = self.scale * np.matmul(self.q, self.k.transpose(0, 2, 1))
        if self.causal:
            for t in range(s.shape[1]):
                s[:, t, max(0, t + 1 + s.shape[2] - s.shape[1]) :] = -np.inf
        return s

    def weights(self):
        return np.exp(self.scores() - self.m[:, :, None]) / self.z[:, :, None]

    def forward(self):
        self.o = np.matmul(self.weights(), self.v)
        return self.o

    def backward(self, grad_o):
        p = self.weights()
        dp = np.matmul(grad_o, self.v.transpose(0, 2, 1))
        ds = self.scale * p * (dp - np.sum(grad_o * self.o, axis=2)[:, :, None])
        return np.matmul(ds, self.k), np.matmul(ds.transpose(0, 2, 1), self.q), np.matmul(p.transpose(0, 2, 1), grad_o)

def attention_forward(q, k, v, causal=False):
    layer = Attention(q, k, v, causal)
    return layer.forward(), layer

def attention_backward(grad_o, ctx):
    return ctx.backward(grad_o)

# %% blocks-of-keys
"""Blocks of keys with a running maximum; the logarithm of the normalizer is kept."""

import numpy as np

WHY = {"sum-is-zero": "b", "blind-spot": "d"}
BLOCK = 3

def blocks(q, k, causal):
    T, S = q.shape[1], k.shape[1]
    for start in range(0, S, BLOCK):
        part = slice(start, min(start + BLOCK, S))
        s = q @ k[:, part].transpose(0, 2, 1) * q.shape[2] ** -0.5
        if causal:
            late = np.arange(part.start, part.stop) > np.arange(T)[:, None] + (S - T)
            s[:, late] = -np.inf
        yield part, s

def attention_forward(q, k, v, causal=False):
    top = np.full((*q.shape[:2], 1), -np.inf, q.dtype)
    total = np.zeros_like(top)
    o = np.zeros((*q.shape[:2], v.shape[2]), q.dtype)
    for part, s in blocks(q, k, causal):
        new = np.maximum(top, s.max(axis=2, keepdims=True))
        safe = np.where(new == -np.inf, 0, new)
        e, shrink = np.exp(s - safe), np.exp(top - safe)
        o = o * shrink + e @ v[:, part]
        total = total * shrink + e.sum(axis=2, keepdims=True)
        top = new
    empty = total == 0
    total[empty], top[empty] = 1, 0
    o = o / total
    return o, (q, k, v, o, top + np.log(total), causal)

def attention_backward(grad_o, ctx):
    q, k, v, o, lse, causal = ctx
    dot = (grad_o * o).sum(axis=2, keepdims=True)
    grad_q, grad_k, grad_v = np.zeros_like(q), np.empty_like(k), np.empty_like(v)
    for part, s in blocks(q, k, causal):
        p = np.exp(s - lse)
        ds = p * (grad_o @ v[:, part].transpose(0, 2, 1) - dot) * q.shape[2] ** -0.5
        grad_q += ds @ k[:, part]
        grad_k[:, part] = ds.transpose(0, 2, 1) @ q
        grad_v[:, part] = p.transpose(0, 2, 1) @ grad_o
    return grad_q, grad_k, grad_v

# %% closures
"""The ctx is a function; everything is computed anew from q, k and v."""

import numpy as np

WHY = {"sum-is-zero": "b", "blind-spot": "d"}

def attention_forward(q, k, v, causal=False):
    root = float(np.sqrt(q.shape[-1]))

    def softmax():
        s = (q / root) @ np.swapaxes(k, -1, -2)
        if causal:
            hidden = np.triu(np.ones(s.shape[-2:], bool), 1 + s.shape[-1] - s.shape[-2])
            s = np.where(hidden, -np.inf, s)
        e = np.exp(s - np.maximum(s.max(-1, keepdims=True), np.finfo(s.dtype).min))
        total = e.sum(-1, keepdims=True)
        return np.divide(e, total, out=np.zeros_like(e), where=total != 0)

    def backward(grad_o):
        p = softmax()
        dp = grad_o @ np.swapaxes(v, -1, -2)
        ds = p * (dp - np.sum(p * dp, axis=-1, keepdims=True)) / root
        return ds @ k, np.swapaxes(ds, -1, -2) @ q, np.swapaxes(p, -1, -2) @ grad_o

    return softmax() @ v, backward

def attention_backward(grad_o, ctx):
    return ctx(grad_o)

# %% einsum-and-logarithms
"""Einsums; the logarithm of the normalizer is kept, and minus infinity where there is none."""

import numpy as np

WHY = {"sum-is-zero": "b", "blind-spot": "d"}

def scores(q, k, causal):
    s = np.einsum("ntd,nsd->nts", q, k) / q.dtype.type(np.sqrt(q.shape[-1]))
    if causal:
        t, n = s.shape[1:]
        s[:, ~np.tri(t, n, n - t, dtype=bool)] = -np.inf
    return s

def attention_forward(q, k, v, causal=False):
    log_total = np.logaddexp.reduce(scores(q, k, causal), axis=-1)
    p = rebuild(q, k, log_total, causal)
    o = np.einsum("nts,nse->nte", p, v)
    return o, {"q": q, "k": k, "v": v, "o": o, "log_total": log_total, "causal": causal}

def rebuild(q, k, log_total, causal):
    finite = np.where(np.isneginf(log_total), 0, log_total)
    return np.exp(scores(q, k, causal) - finite[..., None])

def attention_backward(grad_o, ctx):
    q, k, v, o = (ctx[name] for name in "qkvo")
    p = rebuild(q, k, ctx["log_total"], ctx["causal"])
    dot = np.einsum("nte,nte->nt", grad_o, o)
    ds = p * (np.einsum("nte,nse->nts", grad_o, v) - dot[..., None])
    ds /= q.dtype.type(np.sqrt(q.shape[-1]))
    return (
        np.einsum("nts,nsd->ntd", ds, k),
        np.einsum("nts,ntd->nsd", ds, q),
        np.einsum("nts,nte->nse", p, grad_o),
    )

# %% float64-inside
"""Everything is computed in float64, and copies in float64 are kept."""

import numpy as np

WHY = {"sum-is-zero": "b", "blind-spot": "d"}

def softmax(q, k, causal):
    s = q @ k.swapaxes(1, 2) / np.sqrt(q.shape[2])
    T, S = s.shape[1:]
    seen = np.tril(np.ones((T, S)), S - T).astype(bool) if causal else np.ones((T, S), bool)
    s[:, ~seen] = -np.inf
    e = np.exp(s - np.nan_to_num(s.max(axis=2, keepdims=True), neginf=0.0)) * seen
    return e / np.maximum(e.sum(axis=2, keepdims=True), np.finfo(float).tiny)

def attention_forward(q, k, v, causal=False):
    kept = [np.array(a, np.float64) for a in (q, k, v)]
    o = softmax(kept[0], kept[1], causal) @ kept[2]
    return o.astype(q.dtype), (*kept, causal, q.dtype)

def attention_backward(grad_o, ctx):
    q, k, v, causal, dtype = ctx
    p = softmax(q, k, causal)
    g = grad_o.astype(np.float64)
    dp = g @ v.swapaxes(1, 2)
    ds = p * (dp - (p * dp).sum(axis=2, keepdims=True)) / np.sqrt(q.shape[2])
    grads = ds @ k, ds.swapaxes(1, 2) @ q, p.swapaxes(1, 2) @ g
    return tuple(a.astype(dtype) for a in grads)

# %% in-place-on-copies
"""Two work arrays, written over in place; copies of the inputs are kept."""

import numpy as np

WHY = {"sum-is-zero": "b", "blind-spot": "d"}

def work(q, k, causal):
    s = np.matmul(q, k.transpose(0, 2, 1))
    s *= q.shape[2] ** -0.5
    T, S = s.shape[1:]
    if causal:
        rows, columns = np.triu_indices(T, S - T + 1, S)
        s[:, rows, columns] = -np.inf
    return s

def attention_forward(q, k, v, causal=False):
    p = work(q, k, causal)
    top = p.max(axis=2, keepdims=True)
    top[top == -np.inf] = 0
    p -= top
    np.exp(p, out=p)
    total = p.sum(axis=2, keepdims=True)
    total[total == 0] = 1
    p /= total
    o = np.matmul(p, v)
    return o, [q.copy(), k.copy(), v.copy(), o.copy(), top, total, causal]

def attention_backward(grad_o, ctx):
    q, k, v, o, top, total, causal = ctx
    p = work(q, k, causal)
    p -= top
    np.exp(p, out=p)
    p /= total
    ds = np.matmul(grad_o, v.transpose(0, 2, 1))
    ds -= np.einsum("nte,nte->nt", grad_o, o)[..., None]
    ds *= p
    ds *= q.shape[2] ** -0.5
    return np.matmul(ds, k), np.matmul(ds.transpose(0, 2, 1), q), np.matmul(p.transpose(0, 2, 1), grad_o)

# %% jacobian-of-each-query
"""The whole Jacobian of each query's softmax, one at a time."""

import numpy as np

WHY = {"sum-is-zero": "b", "blind-spot": "d"}

def row(q, keys):
    s = keys @ q / np.sqrt(len(q)).astype(q.dtype)
    s = np.exp(s - s.max())
    return s / s.sum()

def rows(q, k, causal):
    S, T = len(k), len(q)
    return [row(q[t], k[: t + 1 + S - T] if causal else k) if not causal or t + 1 + S > T else None for t in range(T)]

def attention_forward(q, k, v, causal=False):
    o = np.zeros(q.shape[:2] + v.shape[2:], q.dtype)
    for n in range(len(q)):
        for t, p in enumerate(rows(q[n], k[n], causal)):
            if p is not None:
                o[n, t] = p @ v[n, : len(p)]
    return o, dict(q=q, k=k, v=v, causal=causal)

def attention_backward(grad_o, ctx):
    q, k, v = ctx["q"], ctx["k"], ctx["v"]
    root = np.sqrt(q.shape[2]).astype(q.dtype)
    grads = [np.zeros(a.shape, a.dtype) for a in (q, k, v)]
    for n in range(len(q)):
        for t, p in enumerate(rows(q[n], k[n], ctx["causal"])):
            if p is None:
                continue
            jacobian = np.diag(p) - np.outer(p, p)
            ds = jacobian @ (v[n, : len(p)] @ grad_o[n, t]) / root
            grads[0][n, t] = ds @ k[n, : len(p)]
            grads[1][n, : len(p)] += ds[:, None] * q[n, t]
            grads[2][n, : len(p)] += p[:, None] * grad_o[n, t]
    return tuple(grads)

# %% query-by-query
"""A loop over the queries, each with a slice of the keys that it sees."""

import numpy as np

WHY = {"sum-is-zero": "b", "blind-spot": "d"}

def queries(q, k, causal):
    N, T, d = q.shape
    S = k.shape[1]
    for n in range(N):
        for t in range(T):
            seen = min(S, max(0, t + 1 + S - T)) if causal else S
            if seen:
                s = k[n, :seen] @ q[n, t] / d**0.5
                e = np.exp(s - max(s))
                yield n, t, seen, e / sum(e)

def attention_forward(q, k, v, causal=False):
    o = np.zeros((*q.shape[:2], v.shape[2]), q.dtype)
    for n, t, seen, p in queries(q, k, causal):
        o[n, t] = p @ v[n, :seen]
    return o, (q, k, v, causal)

def attention_backward(grad_o, ctx):
    q, k, v, causal = ctx
    grad_q, grad_k, grad_v = np.zeros_like(q), np.zeros_like(k), np.zeros_like(v)
    for n, t, seen, p in queries(q, k, causal):
        dp = v[n, :seen] @ grad_o[n, t]
        ds = p * (dp - p @ dp) / q.shape[2] ** 0.5
        grad_q[n, t] = ds @ k[n, :seen]
        grad_k[n, :seen] += np.outer(ds, q[n, t])
        grad_v[n, :seen] += np.outer(p, grad_o[n, t])
    return grad_q, grad_k, grad_v

# %% blog-post-layers
# part: 1
"""Style: a blog post's layers by hand, with a softmax class and its cached output."""

import numpy as np

class Softmax:
    def forward(self, x):
        e = np.exp(x - np.max(x, axis=-1, keepdims=True))
        self.out = e / np.sum(e, axis=-1, keepdims=True)
        return self.out

    def backward(self, dout):
        return self.out * (dout - np.sum(dout * self.out, axis=-1, keepdims=True))

class SelfAttention:
    def forward(self, Q, K, V, causal):
        self.Q, self.K, self.V = Q, K, V
        self.scale = np.sqrt(Q.shape[-1])
        scores = np.matmul(Q, np.swapaxes(K, -1, -2)) / self.scale
        if causal:
            scores += np.triu(np.full(scores.shape[-2:], -1e9), k=1)
        self.softmax = Softmax()
        self.A = self.softmax.forward(scores)
        return np.matmul(self.A, V)

    def backward(self, dout):
        dV = np.matmul(np.swapaxes(self.A, -1, -2), dout)
        dA = np.matmul(dout, np.swapaxes(self.V, -1, -2))
        dS = self.softmax.backward(dA) / self.scale
        return np.matmul(dS, self.K), np.matmul(np.swapaxes(dS, -1, -2), self.Q), dV

def attention_forward(q, k, v, causal=False):
    layer = SelfAttention()
    return layer.forward(q, k, v, causal), layer

def attention_backward(grad_o, ctx):
    return ctx.backward(grad_o)

# %% loops-as-in-c
# part: 1
"""Style: a translation of loops in C, with the pre-softmax and post-softmax arrays kept."""

import math

import numpy as np

def attention_forward(inp_q, inp_k, inp_v, causal=False):
    B, T, hs = inp_q.shape
    S = inp_k.shape[1]
    scale = 1.0 / math.sqrt(hs)
    preatt = np.zeros((B, T, S))
    att = np.zeros((B, T, S))
    out = np.zeros((B, T, inp_v.shape[2]))
    for b in range(B):
        for t in range(T):
            last = t + 1 if causal else S
            maxval = -10000.0
            for t2 in range(last):
                val = float(np.dot(inp_q[b, t], inp_k[b, t2])) * scale
                maxval = max(maxval, val)
                preatt[b, t, t2] = val
            expsum = 0.0
            for t2 in range(last):
                att[b, t, t2] = math.exp(preatt[b, t, t2] - maxval)
                expsum += att[b, t, t2]
            expsum_inv = 0.0 if expsum == 0.0 else 1.0 / expsum
            for t2 in range(last):
                att[b, t, t2] *= expsum_inv
                out[b, t] += att[b, t, t2] * inp_v[b, t2]
    return out, (inp_q, inp_k, inp_v, att, scale)

def attention_backward(dout, ctx):
    q, k, v, att, scale = ctx
    dq, dk, dv = np.zeros_like(q), np.zeros_like(k), np.zeros_like(v)
    B, T, S = att.shape
    for b in range(B):
        for t in range(T):
            datt = np.zeros(S)
            for t2 in range(S):
                datt[t2] += np.dot(v[b, t2], dout[b, t])
                dv[b, t2] += att[b, t, t2] * dout[b, t]
            dpreatt = np.zeros(S)
            for t2 in range(S):
                for t3 in range(S):
                    indicator = 1.0 if t2 == t3 else 0.0
                    local = att[b, t, t2] * (indicator - att[b, t, t3])
                    dpreatt[t3] += local * datt[t2]
            for t2 in range(S):
                dq[b, t] += k[b, t2] * dpreatt[t2] * scale
                dk[b, t2] += q[b, t] * dpreatt[t2] * scale
    return dq, dk, dv
