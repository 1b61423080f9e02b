"""Style: im2col, a block of output steps at a time, each of them two or three matrix products."""

import numpy as np

BLOCK = 64


def _blocks(steps, kernel, stride):
    """Yield the steps of each block and the padded positions (t, K) that they see."""
    for first in range(0, steps, BLOCK):
        block = np.arange(first, min(first + BLOCK, steps))
        yield block, (block * stride)[:, None] + np.arange(kernel)[None, :]


def _columns(padded, where):
    N, Cin, _ = padded.shape
    return padded[:, :, where].transpose(0, 2, 1, 3).reshape(N * len(where), Cin * where.shape[1])


def conv1d_forward(x, w, b, stride=1, padding=0):
    padded = np.pad(x, ((0, 0), (0, 0), (padding, padding)), mode="constant")
    Cout, Cin, K = w.shape
    T = (padded.shape[2] - K) // stride + 1
    y = np.empty((len(x), Cout, T), dtype=x.dtype)
    for block, where in _blocks(T, K, stride):
        rows = _columns(padded, where) @ w.reshape(Cout, Cin * K).T + b
        y[:, :, block] = rows.reshape(len(x), len(block), Cout).transpose(0, 2, 1)
    return y, (padded, w, stride, padding)


def conv1d_backward(grad_y, cache):
    padded, w, stride, padding = cache
    N, Cin, width = padded.shape
    Cout, _, K = w.shape
    grad_w, grad_b = np.zeros((Cout, Cin * K), w.dtype), np.zeros(Cout, w.dtype)
    grad_padded = np.zeros((N, Cin, width), dtype=grad_y.dtype)
    for block, where in _blocks(grad_y.shape[2], K, stride):
        flat = grad_y[:, :, block].transpose(0, 2, 1).reshape(N * len(block), Cout)
        grad_w += flat.T @ _columns(padded, where)
        grad_b += flat.sum(axis=0)
        per_window = (flat @ w.reshape(Cout, Cin * K)).reshape(N, len(block), Cin, K)
        for t in range(len(block)):
            grad_padded[:, :, where[t]] += per_window[:, t]
    return grad_padded[:, :, padding : width - padding], grad_w.reshape(w.shape), grad_b


def train_step(w, b, x, target, lr, stride=1, padding=0):
    y, cache = conv1d_forward(x, w, b, stride, padding)
    error = y - target
    loss = float(np.vdot(error, error)) / error.size
    error *= 2.0 / error.size
    _, grad_w, grad_b = conv1d_backward(error, cache)
    return w - lr * grad_w, b - lr * grad_b, loss
