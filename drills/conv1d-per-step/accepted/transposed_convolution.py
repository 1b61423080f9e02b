"""Style: grad_x as a transposed convolution, grad_w as a dilated one."""

import numpy as np


def _correlate(signal, kernel):
    """Correlate (N, C, P) with (O, C, K) at stride 1, one pair of rows at a time."""
    out = np.zeros((len(signal), len(kernel), signal.shape[2] - kernel.shape[2] + 1), signal.dtype)
    for n, sample in enumerate(signal):
        for o, rows in enumerate(kernel):
            for row, taps in zip(sample, rows, strict=True):
                out[n, o] += np.correlate(row, taps, mode="valid")
    return out


def _pad(a, before, after):
    return np.pad(a, ((0, 0), (0, 0), (before, after)))


def conv1d_forward(x, w, b, stride=1, padding=0):
    padded = _pad(x, padding, padding)
    # A signal shorter than the filter would make np.correlate swap them; the contract excludes it.
    y = _correlate(padded, w)[:, :, ::stride] + b[:, None]
    return y, (padded, w, stride, padding)


def conv1d_backward(grad_y, cache):
    padded, w, stride, padding = cache
    N, Cout, T = grad_y.shape
    K, width = w.shape[2], padded.shape[2]
    spread = np.zeros((N, Cout, width - K + 1), dtype=grad_y.dtype)
    spread[:, :, : stride * (T - 1) + 1 : stride] = grad_y
    mirrored = w[:, :, ::-1].transpose(1, 0, 2)
    grad_x = _correlate(_pad(spread, K - 1, K - 1), mirrored)[:, :, padding : width - padding]
    grad_w = _correlate(padded.transpose(1, 0, 2), spread.transpose(1, 0, 2)) if N else None
    grad_w = np.zeros_like(w) if grad_w is None else grad_w.transpose(1, 0, 2)
    return grad_x.copy(), grad_w.copy(), grad_y.sum(axis=(0, 2))


def train_step(w, b, x, target, lr, stride=1, padding=0):
    y, cache = conv1d_forward(x, w, b, stride, padding)
    residual = y - target
    _, grad_w, grad_b = conv1d_backward(2.0 * residual / residual.size, cache)
    return w - lr * grad_w, b - lr * grad_b, float(np.mean(residual**2))
