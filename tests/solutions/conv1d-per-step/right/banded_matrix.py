"""Style: the layer as a dense banded matrix; grad_x by its transpose.

The matrix is that of 32 output steps; every 32 steps have the same one.
"""

import numpy as np

STEPS = 32


def _matrix(w, steps, stride):
    Cout, Cin, K = w.shape
    matrix = np.zeros((Cout, steps, Cin, stride * (steps - 1) + K), dtype=w.dtype)
    for t in range(steps):
        matrix[:, t, :, t * stride : t * stride + K] = w
    return matrix


def _blocks(w, steps, stride):
    """Yield the steps of a block, the padded inputs that they see, and its matrix."""
    for first in range(0, steps, STEPS):
        count = min(STEPS, steps - first)
        matrix = _matrix(w, count, stride)
        seen = slice(first * stride, first * stride + matrix.shape[3])
        yield slice(first, first + count), seen, matrix


def conv1d_forward(x, w, b, stride=1, padding=0):
    padded = np.pad(x, ((0, 0), (0, 0), (padding, padding)))
    N, Cin, P = padded.shape
    y = np.empty((N, len(w), (P - w.shape[2]) // stride + 1), dtype=x.dtype)
    for steps, seen, matrix in _blocks(w, y.shape[2], stride):
        Cout, T, _, span = matrix.shape
        rows = matrix.reshape(Cout * T, Cin * span)
        product = padded[:, :, seen].reshape(N, Cin * span) @ rows.T
        y[:, :, steps] = product.reshape(N, Cout, T) + b[:, None]
    return y, (padded, w, stride, padding)


def conv1d_backward(grad_y, cache):
    padded, w, stride, padding = cache
    N, Cin, P = padded.shape
    grad_padded, grad_w = np.zeros(padded.shape, padded.dtype), np.zeros(w.shape, w.dtype)
    for steps, seen, matrix in _blocks(w, grad_y.shape[2], stride):
        Cout, T, _, span = matrix.shape
        flat = grad_y[:, :, steps].reshape(N, Cout * T)
        rows = matrix.reshape(Cout * T, Cin * span)
        grad_padded[:, :, seen] += (flat @ rows).reshape(N, Cin, span)
        # One entry for each pair of output and input; the band holds those of the filter.
        grad_matrix = flat.T @ padded[:, :, seen].reshape(N, Cin * span)
        grad_matrix = grad_matrix.reshape(matrix.shape)
        for t in range(T):
            grad_w += grad_matrix[:, t, :, t * stride : t * stride + w.shape[2]]
    return grad_padded[:, :, padding : P - padding], grad_w, grad_y.sum(axis=(0, 2))


def train_step(w, b, x, target, lr, stride=1, padding=0):
    y, cache = conv1d_forward(x, w, b, stride, padding)
    residual = y - target
    _, grad_w, grad_b = conv1d_backward(2.0 * residual / residual.size, cache)
    return w - lr * grad_w, b - lr * grad_b, float(np.mean(residual**2))
