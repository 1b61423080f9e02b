"""Naive loops over samples, filters and steps, as in a course's assignment; x is kept padded."""

import numpy as np


def conv1d_forward(x, w, b, stride=1, padding=0):
    N, C, W = x.shape
    F, _, WW = w.shape
    out_w = 1 + (W + 2 * padding - WW) // stride
    out = np.zeros((N, F, out_w))
    x_pad = np.pad(x, ((0, 0), (0, 0), (padding, padding)), mode="constant")
    for n in range(N):
        for f in range(F):
            for j in range(out_w):
                piece = x_pad[n, :, j * stride : j * stride + WW]
                out[n, f, j] = np.sum(piece * w[f]) + b[f]
    cache = (x, w, b, stride, padding)
    return out, cache


def conv1d_backward(dout, cache):
    x, w, b, stride, padding = cache
    N, C, W = x.shape
    F, _, WW = w.shape
    x_pad = np.pad(x, ((0, 0), (0, 0), (padding, padding)), mode="constant")
    dx_pad, dw, db = np.zeros_like(x_pad), np.zeros_like(w), np.zeros_like(b)
    for n in range(N):
        for f in range(F):
            db[f] += np.sum(dout[n, f])
            for j in range(dout.shape[2]):
                window = np.s_[n, :, j * stride : j * stride + WW]
                dw[f] += x_pad[window] * dout[n, f, j]
                dx_pad[window] += w[f] * dout[n, f, j]
    return dx_pad[:, :, padding : padding + W], dw, db


def mse_loss(y, target):
    diff = y - target
    return np.mean(diff**2), 2 * diff / diff.size


def train_step(w, b, x, target, lr, stride=1, padding=0):
    y, cache = conv1d_forward(x, w, b, stride, padding)
    loss, dy = mse_loss(y, target)
    _, dw, db = conv1d_backward(dy, cache)
    w = w - lr * dw
    b = b - lr * db
    return w, b, loss
