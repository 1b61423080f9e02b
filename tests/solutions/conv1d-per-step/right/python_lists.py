"""Style: Python lists of floats inside, arrays only at the door."""

import numpy as np


def _padded(x, padding):
    margin = [0.0] * padding
    return [[margin + row + margin for row in sample] for sample in x.tolist()]


def conv1d_forward(x, w, b, stride=1, padding=0):
    K, L = w.shape[2], x.shape[2]
    T = (L + 2 * padding - K) // stride + 1
    signals, filters = _padded(x, padding), w.tolist()
    y = [
        [
            [
                bias
                + sum(
                    tap * row[t * stride + k]
                    for row, taps in zip(sample, filters[o], strict=True)
                    for k, tap in enumerate(taps)
                )
                for t in range(T)
            ]
            for o, bias in enumerate(b.tolist())
        ]
        for sample in signals
    ]
    result = np.array(y, dtype=x.dtype).reshape(len(x), len(w), T)
    return result, (x, w, stride, padding)


def conv1d_backward(grad_y, cache):
    x, w, stride, padding = cache
    signals, filters, dtype = _padded(x, padding), w.tolist(), x.dtype
    Cout, Cin, K = w.shape
    grad_w = [[[0.0] * K for _ in range(Cin)] for _ in range(Cout)]
    grad_b = [0.0] * Cout
    grad_x = []
    for sample, grads in zip(signals, grad_y.tolist(), strict=True):
        grad_sample = [[0.0] * len(row) for row in sample]
        for o, row_of_grads in enumerate(grads):
            grad_b[o] += sum(row_of_grads)
            for t, g in enumerate(row_of_grads):
                for c in range(Cin):
                    for k in range(K):
                        grad_w[o][c][k] += g * sample[c][t * stride + k]
                        grad_sample[c][t * stride + k] += g * filters[o][c][k]
        grad_x.append([row[padding : padding + x.shape[2]] for row in grad_sample])
    return (
        np.array(grad_x, dtype=dtype).reshape(x.shape),
        np.array(grad_w, dtype=dtype),
        np.array(grad_b, dtype=dtype),
    )


def train_step(w, b, x, target, lr, stride=1, padding=0):
    y, cache = conv1d_forward(x, w, b, stride, padding)
    errors = (y - target).ravel().tolist()
    loss = sum(e * e for e in errors) / len(errors)
    grad_y = np.array([2.0 * e / len(errors) for e in errors], dtype=y.dtype).reshape(y.shape)
    _, grad_w, grad_b = conv1d_backward(grad_y, cache)
    return w - lr * grad_w, b - lr * grad_b, loss
