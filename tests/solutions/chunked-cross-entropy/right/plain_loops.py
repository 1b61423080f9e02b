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
