"""The hidden layer is computed a second time: the cache refers to the arguments, and that is all."""

import numpy as np

WHY = {"bias": "c", "sizes": "a", "stacked": "d"}


def hidden(x, W1, b1, act):
    z = np.add(np.dot(x, W1.T), b1)
    if act == "relu":
        return z.clip(min=0)
    return 1 / (1 + np.exp(-z.clip(-80, 80)))


def forward(*given):
    x, W1, b1, W2, b2, act = given
    return np.add(np.dot(hidden(x, W1, b1, act), W2.T), b2), given


def half_squared_error(y, t, keep=None):
    loss, counted, grad = 0.0, 0, np.zeros_like(y)
    for row in range(len(y)):
        if keep is None or keep[row]:
            grad[row] = y[row] - t[row]
            loss += float(grad[row] @ grad[row]) / 2
            counted += 1
    return (loss / counted, grad / counted) if counted else (0.0, grad)


def backward(grad_y, cache):
    x, W1, b1, W2, b2, act = cache
    h = hidden(x, W1, b1, act)
    grad_z = np.dot(grad_y, W2) * (np.sign(h) if act == "relu" else h * (1 - h))
    return np.dot(grad_z, W1), np.dot(x.T, grad_z).T, np.add.reduce(grad_z), np.dot(h.T, grad_y).T, np.add.reduce(grad_y)
