"""Style: five nested loops over numbers; the padding is only an index test."""

import numpy as np


def conv1d_forward(x, w, b, stride=1, padding=0):
    (N, Cin, L), (Cout, _, K) = x.shape, w.shape
    T = (L + 2 * padding - K) // stride + 1
    y = np.zeros((N, Cout, T), dtype=x.dtype)
    for n in range(N):
        for o in range(Cout):
            for t in range(T):
                total = b[o]
                for c in range(Cin):
                    for k in range(K):
                        i = t * stride + k - padding
                        if 0 <= i < L:
                            total += w[o, c, k] * x[n, c, i]
                y[n, o, t] = total
    return y, {"x": x, "w": w, "stride": stride, "padding": padding}


def conv1d_backward(grad_y, cache):
    x, w, stride, padding = cache["x"], cache["w"], cache["stride"], cache["padding"]
    grad_x = np.zeros(x.shape, dtype=x.dtype)
    grad_w = np.zeros(w.shape, dtype=w.dtype)
    grad_b = np.zeros(w.shape[0], dtype=w.dtype)
    for n in range(grad_y.shape[0]):
        for o in range(grad_y.shape[1]):
            for t in range(grad_y.shape[2]):
                g = grad_y[n, o, t]
                grad_b[o] += g
                for c in range(w.shape[1]):
                    for k in range(w.shape[2]):
                        i = t * stride + k - padding
                        if 0 <= i < x.shape[2]:
                            grad_w[o, c, k] += g * x[n, c, i]
                            grad_x[n, c, i] += g * w[o, c, k]
    return grad_x, grad_w, grad_b


def train_step(w, b, x, target, lr, stride=1, padding=0):
    y, cache = conv1d_forward(x, w, b, stride, padding)
    error = y - target
    _, grad_w, grad_b = conv1d_backward(2.0 * error / error.size, cache)
    return w - lr * grad_w, b - lr * grad_b, (error * error).sum() / error.size
