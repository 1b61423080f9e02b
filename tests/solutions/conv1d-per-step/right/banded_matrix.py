"""Style: the layer as one dense banded matrix on the flattened sample; grad_x by its transpose."""

import numpy as np


def _matrix(w, length, stride, padding):
    Cout, Cin, K = w.shape
    T = (length + 2 * padding - K) // stride + 1
    matrix = np.zeros((Cout, T, Cin, length + 2 * padding), dtype=w.dtype)
    for t in range(T):
        matrix[:, t, :, t * stride : t * stride + K] = w
    inner = matrix[:, :, :, padding : padding + length]
    return inner.reshape(Cout * T, Cin * length), T


def conv1d_forward(x, w, b, stride=1, padding=0):
    N, Cin, L = x.shape
    matrix, T = _matrix(w, L, stride, padding)
    y = (x.reshape(N, Cin * L) @ matrix.T).reshape(N, len(w), T) + b[:, None]
    return y, (x, w.shape, matrix, stride, padding)


def conv1d_backward(grad_y, cache):
    x, (Cout, Cin, K), matrix, stride, padding = cache
    N, _, L = x.shape
    T = grad_y.shape[2]
    flat = grad_y.reshape(N, Cout * T)
    grad_x = (flat @ matrix).reshape(N, Cin, L)
    # One entry of the matrix for each pair of output and input; the band holds those of the filter.
    grad_matrix = np.zeros((Cout, T, Cin, L + 2 * padding), dtype=x.dtype)
    grad_matrix[..., padding : padding + L] = (flat.T @ x.reshape(N, Cin * L)).reshape(
        Cout, T, Cin, L
    )
    grad_w = np.zeros((Cout, Cin, K), dtype=x.dtype)
    for t in range(T):
        grad_w += grad_matrix[:, t, :, t * stride : t * stride + K]
    return grad_x, grad_w, grad_y.sum(axis=(0, 2))


def train_step(w, b, x, target, lr, stride=1, padding=0):
    y, cache = conv1d_forward(x, w, b, stride, padding)
    residual = y - target
    _, grad_w, grad_b = conv1d_backward(2.0 * residual / residual.size, cache)
    return w - lr * grad_w, b - lr * grad_b, float(np.mean(residual**2))
