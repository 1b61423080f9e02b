"""Style: one buffer for each result, written in place; features first."""

import numpy as np

WHY = {"no-reference": "b", "not-enough": "c", "rms": "a"}


def _columns(array):
    """A copy (D, rows)."""
    return array.reshape(-1, array.shape[-1]).T.copy()


def _rows(columns, shape):
    return np.ascontiguousarray(columns.T).reshape(shape)


def _scale(columns, eps):
    norm = np.square(columns).mean(axis=0)
    norm += eps
    np.sqrt(norm, out=norm)
    columns /= norm
    return norm


def layernorm(x, gamma, beta, eps=1e-5):
    columns = _columns(x)
    columns -= columns.mean(axis=0)
    norm = _scale(columns, eps)
    y = columns * gamma[:, None]
    y += beta[:, None]
    return _rows(y, x.shape), [columns, norm, gamma]


def rmsnorm(x, gamma, eps=1e-5):
    columns = _columns(x)
    norm = _scale(columns, eps)
    return _rows(columns * gamma[:, None], x.shape), [columns, norm, gamma]


def _backward(grad_y, ctx, shift):
    columns, norm, gamma = ctx
    g = _columns(grad_y)
    grad_beta = g.sum(axis=1)
    product = g * columns
    grad_gamma = product.sum(axis=1)
    product *= gamma[:, None]
    g *= gamma[:, None]
    if shift:
        g -= g.mean(axis=0)
    np.multiply(columns, product.mean(axis=0), out=product)
    g -= product
    g /= norm
    return _rows(g, grad_y.shape), grad_gamma, grad_beta


def layernorm_backward(grad_y, ctx):
    return _backward(grad_y, ctx, True)


def rmsnorm_backward(grad_y, ctx):
    return _backward(grad_y, ctx, False)[:2]
