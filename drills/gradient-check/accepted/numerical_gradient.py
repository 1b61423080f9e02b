"""A numerical gradient for a given df, entry by entry in place, and a relative error."""

import numpy as np


def eval_numerical_gradient_array(f, x, df, h=1e-5):
    grad = np.zeros_like(x)
    it = np.nditer(x, flags=["multi_index"], op_flags=[["readwrite"]])
    while not it.finished:
        ix = it.multi_index
        oldval = x[ix]
        x[ix] = oldval + h
        pos = f(x).copy()
        x[ix] = oldval - h
        neg = f(x).copy()
        x[ix] = oldval
        grad[ix] = np.sum((pos - neg) * df) / (2 * h)
        it.iternext()
    return grad


def rel_error(x, y):
    return np.max(np.abs(x - y) / np.maximum(1e-8, np.abs(x) + np.abs(y)))


def gradient_is_right(forward, backward, x, rng):
    dout = rng.standard_normal(forward(x).shape)
    dx_num = eval_numerical_gradient_array(forward, x, dout)
    dx = backward(dout, x)
    return rel_error(dx, dx_num) < 1e-5
