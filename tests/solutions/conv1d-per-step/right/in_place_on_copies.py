"""Style: in-place arithmetic everywhere, on copies of its own; the loss comes back in the dtype."""

import numpy as np


def conv1d_forward(x, w, b, stride=1, padding=0):
    padded = np.zeros((x.shape[0], x.shape[1], x.shape[2] + 2 * padding), dtype=x.dtype)
    padded[:, :, padding : padding + x.shape[2]] += x
    kernel = w.shape[2]
    steps = 1 + (padded.shape[2] - kernel) // stride
    y = np.zeros((x.shape[0], w.shape[0], steps), dtype=x.dtype)
    for t in range(steps):
        for k in range(kernel):
            y[:, :, t] += padded[:, :, t * stride + k] @ w[:, :, k].T
    y += b.reshape(1, -1, 1)
    return y, (padded, w.copy(), stride, padding)


def conv1d_backward(grad_y, cache):
    padded, w, stride, padding = cache
    g = np.array(grad_y)
    grad_padded = np.zeros_like(padded)
    grad_w = np.zeros_like(w)
    for t in range(g.shape[2]):
        for k in range(w.shape[2]):
            grad_w[:, :, k] += g[:, :, t].T @ padded[:, :, t * stride + k]
            grad_padded[:, :, t * stride + k] += g[:, :, t] @ w[:, :, k]
    grad_b = np.zeros(w.shape[0], dtype=w.dtype)
    for row in g:
        grad_b += row.sum(axis=1)
    end = padded.shape[2] - padding
    return grad_padded[:, :, padding:end].copy(), grad_w, grad_b


def train_step(w, b, x, target, lr, stride=1, padding=0):
    residual, cache = conv1d_forward(x, w, b, stride, padding)
    residual -= target
    loss = np.square(residual).mean()
    residual *= 2.0
    residual /= residual.size
    _, grad_w, grad_b = conv1d_backward(residual, cache)
    w_new, b_new = w.copy(), b.copy()
    grad_w *= lr
    grad_b *= lr
    w_new -= grad_w
    b_new -= grad_b
    return w_new, b_new, loss
