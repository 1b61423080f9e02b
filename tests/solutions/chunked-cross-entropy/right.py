# %% float32_careful
"""Style: float32 for all that is not float64, the loss too, with the target's own term by expm1."""

import numpy as np


def loss_forward(h, w, target, chunk, ignore_index=-100):
    dtype = np.float64 if h.dtype == np.float64 else np.float32
    rows = np.flatnonzero(target != ignore_index)
    losses = np.zeros(len(rows), dtype)
    grad_h, grad_w = np.zeros(h.shape, dtype), np.zeros(w.shape, dtype)
    for at in range(0, len(rows), chunk):
        some = rows[at : at + chunk]
        own = np.arange(len(some)), target[some]
        x = h[some].astype(dtype)
        z = x @ w.T.astype(dtype)
        z -= z[own][:, None].copy()  # the target's logit is 0 now: the loss is what is left
        top = z.max(axis=1, keepdims=True)
        lse = top + np.log(np.exp(z - top).sum(axis=1, keepdims=True, dtype=dtype))
        losses[at : at + chunk] = lse[:, 0]
        dz = np.exp(z - lse)
        dz[own] = np.expm1(-lse[:, 0])
        grad_h[some] = dz @ w.astype(dtype)
        grad_w += dz.T @ x
    n = dtype(max(len(rows), 1))
    return losses.sum(dtype=dtype) / n, (grad_h / n, grad_w / n, h.dtype)


def loss_backward(grad_loss, ctx):
    grad_h, grad_w, dtype = ctx
    scale = grad_h.dtype.type(grad_loss)
    return (scale * grad_h).astype(dtype), (scale * grad_w).astype(dtype)


# %% plain_loops
"""Style: loops over Python's numbers; arrays only at the border."""

from math import exp, log

import numpy as np


def loss_forward(h, w, target, chunk, ignore_index=-100):
    words = w.tolist()
    loss, n = 0.0, 0
    kept = []
    for x, t in zip(h.tolist(), target.tolist()):
        if t == ignore_index:
            kept.append(None)
            continue
        z = [sum(a * b for a, b in zip(x, word)) for word in words]
        top = max(z)
        total = sum(exp(v - top) for v in z)
        loss += top - z[t] + log(total)
        kept.append((top, total, t))
        n += 1
    return loss / max(n, 1), (h, w, kept, max(n, 1))


def loss_backward(grad_loss, ctx):
    h, w, kept, n = ctx
    words = w.tolist()
    grad_h = [[0.0] * w.shape[1] for _ in kept]
    grad_w = [[0.0] * w.shape[1] for _ in words]
    for x, known, row in zip(h.tolist(), kept, grad_h):
        if known is None:
            continue
        top, total, t = known
        for v, word in enumerate(words):
            dz = exp(sum(a * b for a, b in zip(x, word)) - top) / total - (v == t)
            dz *= grad_loss / n
            for k, (a, b) in enumerate(zip(x, word)):
                row[k] += dz * b
                grad_w[v][k] += dz * a
    return np.array(grad_h, h.dtype), np.array(grad_w, w.dtype)


# %% recursive_halves
"""Style: the batch is halved until a chunk is left; sums are handed up, tokens sorted by target."""

import numpy as np


def loss_forward(h, w, target, chunk, ignore_index=-100):
    order = np.argsort(target, kind="stable")
    order = order[target[order] != ignore_index]
    wide = np.result_type(h, np.float32)

    def work(rows):
        if len(rows) > chunk:
            middle = len(rows) // 2
            left, right = work(rows[:middle]), work(rows[middle:])
            left[1].update(right[1])
            left[2][...] += right[2]
            return left[0] + right[0], left[1], left[2]
        x = h[rows].astype(wide)
        z = x @ w.astype(wide).T
        lse = np.logaddexp.reduce(z, axis=1)
        dz = np.exp(z - lse[:, None])
        own = np.arange(len(rows)), target[rows]
        dz[own] -= 1
        grads = dict(zip(rows.tolist(), dz @ w.astype(wide)))
        return float((lse - z[own]).sum()), grads, dz.T @ x

    n = max(len(order), 1)
    loss, grads, grad_w = work(order) if len(order) else (0.0, {}, np.zeros(w.shape, wide))
    grad_h = np.zeros(h.shape, wide)
    for row, grad in grads.items():
        grad_h[row] = grad
    return loss / n, (grad_h / n, grad_w / n, h.dtype)


def loss_backward(grad_loss, ctx):
    grad_h, grad_w, dtype = ctx
    return (grad_h * grad_loss).astype(dtype), (grad_w * grad_loss).astype(dtype)


# %% style_a
"""Style: that of magnitude_of_the_upstream and others, repaired."""

import numpy as np


def loss_forward(h, w, target, chunk, ignore_index=-100):
    wide = np.result_type(h.dtype, np.float32)
    matrix = w.astype(wide)
    counted = target != ignore_index
    n = max(int(counted.sum()), 1)
    loss = 0.0
    grad_h, grad_w = np.zeros(h.shape, wide), np.zeros(w.shape, wide)
    for start in range(0, len(h), chunk):
        rows = np.arange(start, min(start + chunk, len(h)))
        rows = rows[counted[rows]]
        if len(rows) == 0:
            continue
        x, wanted = h[rows].astype(wide), target[rows]
        z = x @ matrix.T
        z = z - z.max(axis=1, keepdims=True)
        log_p = z - np.log(np.exp(z).sum(axis=1, keepdims=True))
        own = np.arange(len(rows)), wanted
        loss -= float(log_p[own].sum()) / n
        dz = np.exp(log_p)
        dz[own] -= 1
        dz /= n
        grad_h[rows] = dz @ matrix
        grad_w += dz.T @ x
    return loss, (grad_h, grad_w, h.dtype)


def loss_backward(grad_loss, ctx):
    grad_h, grad_w, dtype = ctx
    return (grad_loss * grad_h).astype(dtype), (grad_loss * grad_w).astype(dtype)
