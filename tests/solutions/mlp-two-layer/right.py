# %% columns_first
"""The batch runs along the second axis inside, as in textbooks with column vectors."""

import numpy as np

WHY = {"bias": "c", "sizes": "a", "stacked": "d"}


def forward(x, W1, b1, W2, b2, act):
    z = W1 @ x.T + b1[:, None]
    with np.errstate(over="ignore"):
        h = z * (z > 0) if act == "relu" else np.power(1 + np.exp(-z), -1)
    return (W2 @ h + b2[:, None]).T.copy(), dict(x=x, h=h, W1=W1, W2=W2, act=act)


def half_squared_error(y, t, keep=None):
    y, t = y.T, t.T
    counts = np.ones(y.shape[1], bool) if keep is None else keep
    delta = np.zeros_like(y)
    delta[:, counts] = (y - t)[:, counts]
    total = max(1, counts.tolist().count(True))
    return float(np.trace(delta.T @ delta)) / (2 * total), (delta / total).T


def backward(grad_y, cache):
    x, h, W1, W2 = (cache[name] for name in ("x", "h", "W1", "W2"))
    delta2 = grad_y.T
    delta1 = W2.T @ delta2
    delta1 = np.where(h > 0, delta1, 0) if cache["act"] == "relu" else delta1 * (h - h**2)
    return (W1.T @ delta1).T, delta1 @ x, delta1.sum(1), delta2 @ h.T, delta2.sum(1)


# %% float32_throughout
"""No number of float64 anywhere when float32 comes in, not even a scalar."""

import numpy as np

WHY = {"bias": "c", "sizes": "a", "stacked": "d"}


def forward(x, W1, b1, W2, b2, act):
    one = x.dtype.type(1)
    z = x @ W1.T
    z += b1
    if act == "relu":
        h = np.maximum(z, x.dtype.type(0))
    else:
        with np.errstate(over="ignore"):
            h = one / (one + np.exp(-z))
    y = h @ W2.T
    y += b2
    return y, (x, W1, W2, h, act)


def half_squared_error(y, t, keep=None):
    kind = y.dtype.type
    if keep is None:
        residual, rows = y - t, kind(y.shape[0])
    else:
        residual = np.where(keep[:, np.newaxis], y - t, kind(0))
        rows = kind(max(keep.sum(), 1))
    return np.sum(residual * residual) / (kind(2) * rows), residual / rows


def backward(grad_y, cache):
    x, W1, W2, h, act = cache
    one = x.dtype.type(1)
    grad_z = grad_y @ W2
    if act == "relu":
        grad_z[h == 0] = 0
    else:
        grad_z *= h
        grad_z *= one - h
    return grad_z @ W1, grad_z.T @ x, grad_z.sum(axis=0), grad_y.T @ h, grad_y.sum(axis=0)


# %% plain_loops
"""Python loops over numbers; numpy only for the arrays."""

import math

import numpy as np

WHY = {"bias": "c", "sizes": "a", "stacked": "d"}


def _sigmoid(z):
    if z < 0:
        e = math.exp(z)
        return e / (1 + e)
    return 1 / (1 + math.exp(-z))


def _layer(rows, weights, bias):
    return [[sum(w * a for w, a in zip(unit, row)) + b for unit, b in zip(weights, bias)] for row in rows]


def _products(left, right):
    """Entry [i][j] is the sum over the rows of left[i] * right[j]."""
    return [[sum(a[i] * b[j] for a, b in zip(left, right)) for j in range(len(right[0]))] for i in range(len(left[0]))]


def _sums(rows):
    return [sum(column) for column in zip(*rows)]


def _back(rows, weights):
    return [[sum(g * unit[j] for g, unit in zip(row, weights)) for j in range(len(weights[0]))] for row in rows]


def forward(x, W1, b1, W2, b2, act):
    z = _layer(x.tolist(), W1.tolist(), b1.tolist())
    h = [[max(v, 0.0) if act == "relu" else _sigmoid(v) for v in row] for row in z]
    y = _layer(h, W2.tolist(), b2.tolist())
    return np.array(y, x.dtype), (x, W1, W2, h, act)


def half_squared_error(y, t, keep=None):
    rows = [i for i in range(len(y)) if keep is None or keep[i]]
    grad = np.zeros(y.shape, y.dtype)
    loss = 0.0
    for i in rows:
        for k in range(y.shape[1]):
            residual = float(y[i, k]) - float(t[i, k])
            loss += residual * residual / 2 / len(rows)
            grad[i, k] = residual / len(rows)
    return loss, grad


def backward(grad_y, cache):
    x, W1, W2, h, act = cache
    g = grad_y.tolist()
    grad_z = [
        [a * ((1.0 if v > 0 else 0.0) if act == "relu" else v * (1 - v)) for a, v in zip(row, hidden)]
        for row, hidden in zip(_back(g, W2.tolist()), h)
    ]
    grads = _back(grad_z, W1.tolist()), _products(grad_z, x.tolist()), _sums(grad_z), _products(g, h), _sums(g)
    return tuple(np.array(a, grad_y.dtype) for a in grads)


# %% repaired_starter
"""The starter with as few changes as it takes."""

import numpy as np

WHY = {"bias": "c", "sizes": "a", "stacked": "d"}


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def forward(x, W1, b1, W2, b2, act):
    z = x @ W1.T + b1
    h = np.maximum(z, 0) if act == "relu" else sigmoid(z)
    y = h @ W2.T + b2
    return y, (x, W1, W2, h, act)


def half_squared_error(y, t, keep=None):
    if keep is None:
        keep = np.ones(len(y), bool)
    residual = np.where(keep[:, None], y - t, 0)
    rows = max(int(keep.sum()), 1)
    loss = 0.5 * (residual**2).sum() / rows
    return loss, residual / rows


def backward(grad_y, cache):
    x, W1, W2, h, act = cache
    grad_W2 = grad_y.T @ h
    grad_b2 = grad_y.sum(axis=0)
    grad_h = grad_y @ W2
    slope = h > 0 if act == "relu" else h * (1 - h)
    grad_z = grad_h * slope
    grad_W1 = grad_z.T @ x
    grad_b1 = grad_z.sum(axis=0)
    grad_x = grad_z @ W1
    return grad_x, grad_W1, grad_b1, grad_W2, grad_b2


# %% scales_what_arrives
"""grad_y is changed in place and restored before backward returns."""

import numpy as np

WHY = {"bias": "c", "sizes": "a", "stacked": "d"}


def sigmoid(z):
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-z))


def forward(x, W1, b1, W2, b2, act):
    z = x @ W1.T + b1
    h = np.maximum(z, 0) if act == "relu" else sigmoid(z)
    y = h @ W2.T + b2
    return y, (x, W1, W2, h, act)


def half_squared_error(y, t, keep=None):
    keep = np.ones(len(y), bool) if keep is None else keep
    rows = max(int(keep.sum()), 1)
    residual = np.where(keep[:, None], y - t, 0)
    loss = 0.5 * float((residual**2).sum()) / rows
    return loss, residual / rows


def backward(grad_y, cache):
    x, W1, W2, h, act = cache
    grad_y *= 2
    slope = h > 0 if act == "relu" else h * (1 - h)
    grad_h = grad_y @ W2
    grad_z = grad_h * slope
    grad_W1 = grad_z.T @ x
    grad_b1 = grad_z.sum(axis=0)
    grad_W2 = grad_y.T @ h
    grad_b2 = grad_y.sum(axis=0)
    grad_x = grad_z @ W1
    grad_y /= 2
    return grad_x / 2, grad_W1 / 2, grad_b1 / 2, grad_W2 / 2, grad_b2 / 2


# %% segments_of_rows
"""Backward goes through the batch in segments of three rows and adds up what they give."""

import numpy as np

WHY = {"bias": "c", "sizes": "a", "stacked": "d"}


def _rise(z):
    # log(1 + exp(-z)) without overflow, and back.
    return np.exp(-np.logaddexp(0, -z)).astype(z.dtype)


def forward(x, W1, b1, W2, b2, act):
    h = np.inner(x, W1) + b1
    h = np.fmax(h, 0) if act == "relu" else _rise(h)
    return np.inner(h, W2) + b2, (act, x, h, W1, W2)


def half_squared_error(y, t, keep=None):
    grad = np.zeros_like(y)
    np.copyto(grad, y - t, where=True if keep is None else keep[:, None])
    n = len(y) if keep is None else int(np.sum(keep)) or 1
    return np.linalg.norm(grad) ** 2 / 2 / n, np.true_divide(grad, n)


def backward(grad_y, cache):
    act, x, h, W1, W2 = cache
    parts = []
    for start in range(0, len(x), 3):
        rows = slice(start, start + 3)
        g, hidden = grad_y[rows], h[rows]
        d = g @ W2 * (hidden > 0 if act == "relu" else hidden * (1 - hidden))
        parts.append((d @ W1, d.T @ x[rows], d.sum(0), g.T @ hidden, g.sum(0)))
    of_x, *others = zip(*parts)
    return (np.concatenate(of_x), *(sum(part) for part in others))


# %% style_a
"""Style: that of biases_by_the_root and others, repaired."""

import numpy as np

WHY = {"bias": "c", "sizes": "a", "stacked": "d"}


def sigmoid(z):
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-z))


def forward(x, W1, b1, W2, b2, act):
    z = x @ W1.T + b1
    h = np.maximum(z, 0) if act == "relu" else sigmoid(z)
    y = h @ W2.T + b2
    return y, (x, W1, W2, h, act)


def half_squared_error(y, t, keep=None):
    keep = np.ones(len(y), bool) if keep is None else keep
    rows = max(int(keep.sum()), 1)
    residual = np.where(keep[:, None], y - t, 0)
    loss = 0.5 * float((residual**2).sum()) / rows
    return loss, residual / rows


def backward(grad_y, cache):
    x, W1, W2, h, act = cache
    slope = h > 0 if act == "relu" else h * (1 - h)
    grad_h = grad_y @ W2
    grad_z = grad_h * slope
    grad_W1 = grad_z.T @ x
    grad_b1 = grad_z.sum(axis=0)
    grad_W2 = grad_y.T @ h
    grad_b2 = grad_y.sum(axis=0)
    grad_x = grad_z @ W1
    return grad_x, grad_W1, grad_b1, grad_W2, grad_b2
