"""Python floats and loops over lists, which keep the input by reference and two numbers per row."""

import math

import numpy as np

WHY = {"no-reference": "b", "not-enough": "c", "rms": "a"}


def _rows(array):
    return [array[at].tolist() for at in np.ndindex(*array.shape[:-1])]


def _array(rows, like):
    return np.array(rows, like.dtype).reshape(like.shape)


def _forward(x, gamma, beta, eps, center):
    out, kept = [], []
    for row in _rows(x):
        mean = sum(row) / len(row) if center else 0.0
        deviations = [value - mean for value in row]
        r = 1.0 / math.sqrt(sum(d * d for d in deviations) / len(row) + eps)
        out.append([d * r * w + b for d, w, b in zip(deviations, gamma.tolist(), beta, strict=True)])
        kept.append((mean, r))
    return _array(out, x), (x, kept, gamma)


def _backward(grad_y, ctx, center):
    x, kept, gamma = ctx
    weights = gamma.tolist()
    width = len(weights)
    grad_x, grad_gamma, grad_beta = [], [0.0] * width, [0.0] * width
    for row, dy, (mean, r) in zip(_rows(x), _rows(grad_y), kept, strict=True):
        xhat = [(value - mean) * r for value in row]
        g = [d * w for d, w in zip(dy, weights, strict=True)]
        through_mean = sum(g) / width if center else 0.0
        through_root = sum(a * b for a, b in zip(g, xhat, strict=True)) / width
        grad_x.append([r * (a - through_mean - b * through_root) for a, b in zip(g, xhat, strict=True)])
        for k in range(width):
            grad_gamma[k] += dy[k] * xhat[k]
            grad_beta[k] += dy[k]
    return _array(grad_x, grad_y), _array(grad_gamma, gamma), _array(grad_beta, gamma)


def layernorm(x, gamma, beta, eps=1e-5):
    return _forward(x, gamma, beta.tolist(), eps, True)


def layernorm_backward(grad_y, ctx):
    return _backward(grad_y, ctx, True)


def rmsnorm(x, gamma, eps=1e-5):
    return _forward(x, gamma, [0.0] * len(gamma), eps, False)


def rmsnorm_backward(grad_y, ctx):
    return _backward(grad_y, ctx, False)[:2]
