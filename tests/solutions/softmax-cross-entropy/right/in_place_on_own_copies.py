"""Style: in-place arithmetic and out= arguments, on copies of our own."""

import numpy as np


def log_softmax(z):
    out = z.copy()
    out -= out.max(axis=1, keepdims=True)
    scratch = np.exp(out)
    total = scratch.sum(axis=1, keepdims=True)
    np.log(total, out=total)
    out -= total
    return out


def dloss_dp(p, y):
    out = y.copy()
    np.negative(out, out=out)
    np.divide(out, p, out=out, where=out != 0)
    return out


def softmax_jacobian(p):
    out = np.empty((p.size, p.size), dtype=p.dtype)
    np.multiply(p[:, None], p, out=out)
    np.negative(out, out=out)
    diagonal = np.einsum("ii->i", out)
    diagonal += p
    return out


def contract(jacobian, g):
    out = np.empty(g.shape, dtype=g.dtype)
    np.matmul(jacobian.T.copy(), g.copy(), out=out)
    return out


def cross_entropy(z, target, ignore_index=-100):
    labels = np.array(target, dtype=np.int64)
    kept = labels != ignore_index
    labels[~kept] = 0
    losses = log_softmax(z)[np.arange(labels.size), labels]
    losses[~kept] = 0
    np.negative(losses, out=losses)
    return float(losses.sum()) / max(int(kept.sum()), 1)


def cross_entropy_grad(z, target, ignore_index=-100):
    labels = np.array(target, dtype=np.int64)
    kept = labels != ignore_index
    labels[~kept] = 0
    out = log_softmax(z)
    np.exp(out, out=out)
    out[np.arange(labels.size), labels] -= 1
    out /= max(int(kept.sum()), 1)
    out[~kept] = 0
    return out


def dloss_dz(p, y):
    return y.sum() * p - y


def softmax_vjp(p, g):
    return p * (g - (p * g).sum(axis=-1, keepdims=True))


WHY = {"loss-fell": "b", "would-have-shown-it": "a", "transpose": "c"}
