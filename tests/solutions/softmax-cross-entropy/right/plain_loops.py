"""Style: plain loops over Python floats, arrays only at the borders."""

import math

import numpy as np


def _row(values):
    top = max(values)
    total = math.fsum(math.exp(v - top) for v in values)
    return [(v - top) - math.log(total) for v in values]


def log_softmax(z):
    out = np.empty(z.shape, dtype=z.dtype)
    for b in range(z.shape[0]):
        out[b] = _row([float(v) for v in z[b]])
    return out


def dloss_dp(p, y):
    out = np.zeros(len(p), dtype=p.dtype)
    for k in range(len(p)):
        if y[k] != 0:
            out[k] = -float(y[k]) / float(p[k])
    return out


def softmax_jacobian(p):
    size = len(p)
    out = np.empty((size, size), dtype=p.dtype)
    for i in range(size):
        for j in range(size):
            out[i, j] = float(p[i]) * ((1.0 if i == j else 0.0) - float(p[j]))
    return out


def contract(jacobian, g):
    size = len(g)
    out = np.empty(size, dtype=jacobian.dtype)
    for j in range(size):
        out[j] = math.fsum(float(jacobian[i, j]) * float(g[i]) for i in range(size))
    return out


def cross_entropy(z, target, ignore_index=-100):
    losses = []
    for b, t in enumerate(target.tolist()):
        if t != ignore_index:
            losses.append(-_row([float(v) for v in z[b]])[t])
    return math.fsum(losses) / len(losses) if losses else 0.0


def cross_entropy_grad(z, target, ignore_index=-100):
    labels = target.tolist()
    n = sum(t != ignore_index for t in labels)
    out = np.zeros(z.shape, dtype=z.dtype)
    for b, t in enumerate(labels):
        if t == ignore_index:
            continue
        for c, lp in enumerate(_row([float(v) for v in z[b]])):
            out[b, c] = (math.exp(lp) - (c == t)) / n
    return out


def dloss_dz(p, y):
    return y.sum() * p - y


def softmax_vjp(p, g):
    return p * (g - (p * g).sum(axis=-1, keepdims=True))


WHY = {"loss-fell": "b", "would-have-shown-it": "a", "transpose": "c"}
