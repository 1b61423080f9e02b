"""As in a well-known course: affine layers with caches, out of which a network is made."""

import numpy as np


def affine_forward(x, w, b):
    out = x.reshape(x.shape[0], -1).dot(w) + b
    return out, (x, w, b)


def affine_backward(dout, cache):
    x, w, b = cache
    dx = dout.dot(w.T).reshape(x.shape)
    dw = x.reshape(x.shape[0], -1).T.dot(dout)
    db = np.sum(dout, axis=0)
    return dx, dw, db


def relu_forward(x):
    return np.maximum(0, x), x


def relu_backward(dout, cache):
    dx = np.array(dout, copy=True)
    dx[cache <= 0] = 0
    return dx


def sigmoid_forward(x):
    out = 1.0 / (1.0 + np.exp(-x))
    return out, out


def sigmoid_backward(dout, cache):
    return dout * cache * (1 - cache)


def forward(x, W1, b1, W2, b2, act):
    a, fc1_cache = affine_forward(x, W1.T, b1)
    h, act_cache = relu_forward(a) if act == "relu" else sigmoid_forward(a)
    scores, fc2_cache = affine_forward(h, W2.T, b2)
    return scores, (fc1_cache, act_cache, fc2_cache, act)


def half_squared_error(y, t):
    N = y.shape[0]
    loss = 0.5 * np.sum((y - t) ** 2) / N
    return loss, (y - t) / N


def backward(dout, cache):
    fc1_cache, act_cache, fc2_cache, act = cache
    dh, dW2, db2 = affine_backward(dout, fc2_cache)
    da = relu_backward(dh, act_cache) if act == "relu" else sigmoid_backward(dh, act_cache)
    dx, dW1, db1 = affine_backward(da, fc1_cache)
    return dx, dW1.T, db1, dW2.T, db2
