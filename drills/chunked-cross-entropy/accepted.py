# %% a-layer-as-an-object
"""Style: a dataclass holds what a call knows; ctx is that object, and half of the work waits."""

from dataclasses import dataclass

import numpy as np

@dataclass
class Projection:
    h: np.ndarray
    w: np.ndarray
    target: np.ndarray
    chunk: int
    ignore_index: int

    def __post_init__(self):
        self.wide = max(self.h.dtype, np.dtype("f4"), key=lambda dtype: dtype.itemsize)
        self.n = max(sum(1 for t in self.target if t != self.ignore_index), 1)

    def pieces(self):
        """Counted tokens, their logarithms of probabilities and where the targets stand."""
        for start in range(0, len(self.h), self.chunk):
            rows = range(start, min(start + self.chunk, len(self.h)))
            rows = [row for row in rows if self.target[row] != self.ignore_index]
            if rows:
                x = self.h[rows].astype(self.wide)
                z = np.inner(x, self.w.astype(self.wide))
                z = z - z.max(-1, keepdims=True)
                log_p = z - np.log(np.exp(z).sum(-1, keepdims=True))
                yield rows, x, log_p, (list(range(len(rows))), self.target[rows].tolist())

    def loss(self):
        return sum(-float(log_p[own].sum()) for _, _, log_p, own in self.pieces()) / self.n

    def gradients(self, grad_loss):
        grad_h, grad_w = (np.zeros(a.shape, self.wide) for a in (self.h, self.w))
        for rows, x, log_p, own in self.pieces():
            dz = np.exp(log_p)
            dz[own] -= 1
            grad_h[rows] = dz.dot(self.w.astype(self.wide))
            grad_w += np.dot(dz.T, x)
        scale = grad_loss / self.n
        return (grad_h * scale).astype(self.h.dtype), (grad_w * scale).astype(self.w.dtype)

def loss_forward(h, w, target, chunk, ignore_index=-100):
    layer = Projection(h, w, target, chunk, ignore_index)
    return layer.loss(), layer

def loss_backward(grad_loss, ctx):
    return ctx.gradients(grad_loss)

# %% backward-recomputes
"""Style: ctx refers to the inputs and keeps two numbers per token; the backward pass projects again."""

import numpy as np

def loss_forward(h, w, target, chunk, ignore_index=-100):
    wide = np.float64 if h.dtype == np.float64 else np.float32
    counts = target != ignore_index
    n = int(counts.sum()) or 1
    wanted = np.where(counts, target, 0)
    lse = np.zeros(len(h), wide)
    total = 0.0
    for start in range(0, len(h), chunk):
        some = slice(start, start + chunk)
        z = h[some].astype(wide) @ w.astype(wide).T
        top = z.max(axis=1)
        lse[some] = np.log(np.exp(z - top[:, None]).sum(axis=1))
        own = z[np.arange(len(z)), wanted[some]]
        total += float(((top - own + lse[some]) * counts[some]).sum())
    return total / n, (h, w, wanted, counts, lse, n, chunk, wide)

def loss_backward(grad_loss, ctx):
    h, w, wanted, counts, lse, n, chunk, wide = ctx
    grad_h = np.empty(h.shape, h.dtype)
    grad_w = np.zeros(w.shape, wide)
    w_wide = w.astype(wide)
    for start in range(0, len(h), chunk):
        some = slice(start, start + chunk)
        x = h[some].astype(wide)
        z = x @ w_wide.T
        p = np.exp(z - z.max(axis=1, keepdims=True) - lse[some, None])
        p[np.arange(len(p)), wanted[some]] -= 1
        p *= (counts[some] * (grad_loss / n)).astype(wide)[:, None]
        grad_h[some] = p @ w_wide
        grad_w += p.T @ x
    return grad_h, grad_w.astype(w.dtype)

# %% blocks-of-words
"""Another algorithm: the words are cut into blocks, with a running maximum and sum per token."""

import numpy as np

BLOCK = 16

def loss_forward(h, w, target, chunk, ignore_index=-100):
    wide = np.result_type(h.dtype, np.float32)
    rows = np.flatnonzero(target != ignore_index)
    x, wanted = h[rows].astype(wide), target[rows]
    top = np.full(len(rows), -np.inf, wide)
    total = np.zeros(len(rows), wide)
    own = np.zeros(len(rows), wide)
    for first in range(0, len(w), BLOCK):
        z = x @ w[first : first + BLOCK].astype(wide).T
        higher = np.maximum(top, z.max(axis=1))
        total = total * np.exp(top - higher) + np.exp(z - higher[:, None]).sum(axis=1)
        top = higher
        here = np.flatnonzero((wanted >= first) & (wanted < first + BLOCK))
        own[here] = z[here, wanted[here] - first]
    loss = float(((top - own) + np.log(total)).sum()) / max(1, len(rows))
    return loss, (h, w, rows, wanted, top, np.log(total))

def loss_backward(grad_loss, ctx):
    h, w, rows, wanted, top, log_total = ctx
    wide = top.dtype
    x = h[rows].astype(wide)
    scale = grad_loss / max(1, len(rows))
    grad_x = np.zeros(x.shape, wide)
    grad_w = np.zeros(w.shape, w.dtype)
    for first in range(0, len(w), BLOCK):
        block = w[first : first + BLOCK].astype(wide)
        p = np.exp(x @ block.T - top[:, None] - log_total[:, None])
        here = np.flatnonzero((wanted >= first) & (wanted < first + BLOCK))
        p[here, wanted[here] - first] -= 1
        grad_x += p @ block
        grad_w[first : first + BLOCK] = p.T @ x * scale
    grad_h = np.zeros(h.shape, h.dtype)
    grad_h[rows] = grad_x * scale
    return grad_h, grad_w

# %% closures
"""Style: ctx is a function; generators give chunks; the mean is taken of each token's share."""

import numpy as np

def loss_forward(h, w, target, chunk, ignore_index=-100):
    wide = np.promote_types(h.dtype, np.float32)
    kept = [i for i, t in enumerate(target.tolist()) if t != ignore_index]
    share = 1 / len(kept) if kept else 0.0
    big = w.astype(wide)

    def chunks():
        for at in range(0, len(kept), chunk):
            rows = kept[at : at + chunk]
            z = h[rows].astype(wide) @ big.T
            z -= z.max(1, keepdims=True)
            yield rows, z - np.log(np.exp(z).sum(1, keepdims=True))

    loss = sum(-float(log_p[range(len(rows)), target[rows]].sum()) for rows, log_p in chunks())

    def backward(grad_loss):
        grad_h, grad_w = np.zeros(h.shape, wide), np.zeros(w.shape, wide)
        for rows, log_p in chunks():
            dz = np.exp(log_p)
            dz[range(len(rows)), target[rows]] -= 1
            dz *= share * grad_loss
            grad_h[rows] = dz @ big
            grad_w += dz.T @ h[rows].astype(wide)
        return grad_h.astype(h.dtype), grad_w.astype(w.dtype)

    return loss * share, backward

def loss_backward(grad_loss, ctx):
    return ctx(grad_loss)

# %% einsum-and-one-hot
"""Style: einsum throughout, and one-hot targets in which a row of padding has no 1."""

import numpy as np

def loss_forward(h, w, target, chunk, ignore_index=-100):
    real = np.result_type(np.float32, h)
    live = (target != ignore_index).astype(real)
    n = max(1, np.count_nonzero(live))
    loss = 0.0
    grad_h, grad_w = np.empty(h.shape, real), np.zeros(w.shape, real)
    words = np.arange(len(w))
    for start in range(0, len(h), chunk):
        stop = start + chunk
        x, on = h[start:stop].astype(real), live[start:stop]
        z = np.einsum("nd,vd->nv", x, w.astype(real))
        z = z - np.max(z, axis=-1)[:, np.newaxis]
        log_p = z - np.log(np.einsum("nv->n", np.exp(z)))[:, np.newaxis]
        hot = np.equal.outer(target[start:stop], words) * on[:, np.newaxis]
        loss -= np.einsum("nv,nv->", hot, log_p).item() / n
        dz = np.einsum("nv,n->nv", np.exp(log_p), on) - hot
        grad_h[start:stop] = np.einsum("nv,vd->nd", dz, w.astype(real))
        grad_w = grad_w + np.einsum("nv,nd->vd", dz, x)
    return loss, {"h": grad_h, "w": grad_w, "n": n, "dtype": h.dtype}

def loss_backward(grad_loss, ctx):
    factor = grad_loss / ctx["n"]
    return tuple(np.multiply(ctx[name], factor).astype(ctx["dtype"]) for name in "hw")

# %% float64-inside
"""Style: float64 between input and output, whatever the dtype of the inputs."""

import numpy as np

def loss_forward(h, w, target, chunk, ignore_index=-100):
    H, W = np.float64(h), np.float64(w)
    counted = np.not_equal(target, ignore_index)
    n = counted.sum()
    loss = np.float64(0)
    dH, dW = np.zeros_like(H), np.zeros_like(W)
    for begin in np.arange(0, len(H), chunk):
        rows = np.arange(begin, min(begin + chunk, len(H)))[counted[begin : begin + chunk]]
        if rows.size == 0:
            continue
        z = H[rows] @ W.T
        m = z.max(1, keepdims=True)
        e = np.exp(z - m)
        s = e.sum(1, keepdims=True)
        t = target[rows, None]
        loss += (np.log(s) + m - np.take_along_axis(z, t, 1)).sum()
        dz = e / s
        np.put_along_axis(dz, t, np.take_along_axis(dz, t, 1) - 1, 1)
        dH[rows] = dz @ W
        dW += dz.T @ H[rows]
    if n:
        loss, dH, dW = loss / n, dH / n, dW / n
    return loss, (dH, dW, h.dtype)

def loss_backward(grad_loss, ctx):
    dH, dW, dtype = ctx
    return np.asarray(grad_loss * dH, dtype), np.array(grad_loss * dW, dtype)

# %% in-place-on-own-buffers
"""Style: one buffer of logits per call, filled again and again with out=; results in place on it."""

import numpy as np

def loss_forward(h, w, target, chunk, ignore_index=-100):
    dtype = np.dtype(np.float64 if h.dtype.itemsize == 8 else np.float32)
    rows, = np.nonzero(target != ignore_index)
    chunk = min(chunk, len(h))
    wide_w = np.ascontiguousarray(w, dtype)
    buffer = np.empty((chunk, len(w)), dtype)
    share = np.empty(wide_w.shape, dtype)
    grad_h, grad_w = np.zeros(h.shape, dtype), np.zeros(w.shape, dtype)
    loss = 0.0
    for at in range(0, rows.size, chunk):
        some = rows[at : at + chunk]
        x = np.ascontiguousarray(h[some], dtype)
        z = buffer[: some.size]
        own = np.arange(some.size), target[some]
        np.matmul(x, wide_w.T, out=z)
        np.subtract(z, z.max(axis=1, keepdims=True), out=z)
        loss -= float(z[own].sum())
        np.exp(z, out=z)
        total = z.sum(axis=1, keepdims=True)
        loss += float(np.log(total).sum())
        np.divide(z, total, out=z)
        np.subtract.at(z, own, 1)
        grad_h[some] = np.matmul(z, wide_w)
        np.matmul(z.T, x, out=share)
        np.add(grad_w, share, out=grad_w)
    if rows.size:
        loss /= rows.size
        grad_h /= dtype.type(rows.size)
        grad_w /= dtype.type(rows.size)
    return loss, [grad_h, grad_w, h.dtype]

def loss_backward(grad_loss, ctx):
    results = []
    for grad in ctx[:2]:
        scaled = grad.copy()
        scaled *= grad_loss
        results.append(scaled.astype(ctx[2]))
    return tuple(results)

# %% token-by-token
"""Style: one token after the other, whatever chunk says; outer products for the matrix."""

import numpy as np

def loss_forward(h, w, target, chunk, ignore_index=-100):
    precise = np.result_type(h.dtype, "f4")
    matrix = w.astype(precise)
    grad_h, grad_w = np.zeros(h.shape, precise), np.zeros(w.shape, precise)
    losses = []
    for row, (x, t) in enumerate(zip(h.astype(precise), target, strict=True)):
        if t == ignore_index:
            continue
        z = matrix @ x
        z = z - z.max()
        log_p = z - np.log(np.sum(np.exp(z)))
        losses.append(float(-log_p[t]))
        dz = np.exp(log_p)
        dz[t] -= 1
        grad_h[row] = dz @ matrix
        grad_w += np.outer(dz, x)
    n = len(losses) or 1
    return sum(losses) / n, (grad_h / n, grad_w / n, h.dtype)

def loss_backward(grad_loss, ctx):
    *grads, dtype = ctx
    return tuple((grad * grad_loss).astype(dtype) for grad in grads)

# %% fused-kernel
# part: 1
"""Style: a fused linear cross-entropy that makes the gradients in its forward pass."""

import numpy as np

class Context:
    def save_for_backward(self, *arrays):
        self.saved = arrays

def loss_forward(_input, weight, target, chunk, ignore_index=-100):
    ctx = Context()
    BT = _input.shape[0]
    num_chunks = (BT + chunk - 1) // chunk
    grad_input = np.zeros_like(_input)
    grad_weight = np.zeros_like(weight)
    loss_1d = np.zeros(BT, dtype=np.float32 if _input.dtype == np.float32 else np.float64)
    n_non_ignore = (target != ignore_index).sum().item()
    for chunk_id in range(num_chunks):
        start_idx = chunk_id * chunk
        end_idx = min((chunk_id + 1) * chunk, BT)
        _input_chunk = _input[start_idx:end_idx]
        logits_chunk = _input_chunk @ weight.T
        target_chunk = target[start_idx:end_idx]
        m = logits_chunk.max(axis=-1)
        d = np.exp(logits_chunk - m[:, None]).sum(axis=-1)
        index = np.arange(len(target_chunk))
        loss_1d[start_idx:end_idx] = m + np.log(d) - logits_chunk[index, target_chunk]
        grad_logits = np.exp(logits_chunk - m[:, None]) / (d[:, None] * n_non_ignore)
        grad_logits[index, target_chunk] -= 1 / n_non_ignore
        grad_input[start_idx:end_idx] = grad_logits @ weight
        grad_weight += grad_logits.T @ _input_chunk
    ctx.save_for_backward(grad_input, grad_weight)
    return loss_1d.sum() / n_non_ignore, ctx

def loss_backward(grad_output, ctx):
    grad_input, grad_weight = ctx.saved
    if grad_output != 1.0:
        grad_input = grad_input * grad_output
        grad_weight = grad_weight * grad_output
    return grad_input, grad_weight

# %% recomputing-function
# part: 1
"""Style: a custom autograd function that makes each chunk's logits again in the backward pass."""

import numpy as np

def loss_forward(h, w, target, chunk, ignore_index=-100):
    losses = []
    for hc, tc in zip(_split(h, chunk), _split(target, chunk)):
        logits = hc @ w.T
        logits -= logits.max(axis=-1, keepdims=True)
        losses.append(-np.log(_softmax(logits))[np.arange(len(tc)), tc])
    return np.concatenate(losses).mean(), {"h": h, "w": w, "target": target, "chunk": chunk}

def loss_backward(grad_loss, ctx):
    h, w, target, chunk = ctx["h"], ctx["w"], ctx["target"], ctx["chunk"]
    dh, dw = [], 0
    for hc, tc in zip(_split(h, chunk), _split(target, chunk)):
        dlogits = _softmax(hc @ w.T)
        dlogits[np.arange(len(tc)), tc] -= 1
        dlogits *= grad_loss / len(target)
        dh.append(dlogits @ w)
        dw = dw + dlogits.T @ hc
    return np.concatenate(dh), dw

def _split(a, chunk):
    return [a[i : i + chunk] for i in range(0, len(a), chunk)]

def _softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)
