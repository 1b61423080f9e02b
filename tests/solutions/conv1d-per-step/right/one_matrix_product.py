"""Shifted slices, one per tap, stacked into a matrix (Cin K, N T), for a stretch of T at a time."""

import numpy as np

STRETCH = 200


def _matrices(p, kernel, stride):
    """Yield for each stretch its steps, its matrix, and where each of its taps reads in p."""
    count = 1 + (p.shape[2] - kernel) // stride
    for begin in range(0, count, STRETCH):
        steps = slice(begin, min(begin + STRETCH, count))
        reads = [
            slice(begin * stride + k, (steps.stop - 1) * stride + k + 1, stride)
            for k in range(kernel)
        ]
        taps = np.stack([p[:, :, read] for read in reads], axis=2)  # (N, Cin, K, T)
        samples, inputs, _, width = taps.shape
        yield steps, taps.transpose(1, 2, 0, 3).reshape(inputs * kernel, samples * width), reads


def conv1d_forward(x, w, b, stride=1, padding=0):
    p = np.pad(x, ((0, 0), (0, 0), (padding, padding)))
    y = np.empty((len(x), len(w), 1 + (p.shape[2] - w.shape[2]) // stride), x.dtype)
    for steps, matrix, _ in _matrices(p, w.shape[2], stride):
        part = w.reshape(len(w), len(matrix)) @ matrix
        y[:, :, steps] = part.reshape(len(w), len(x), steps.stop - steps.start).swapaxes(0, 1)
    return y + b[:, None], dict(p=p, w=w, stride=stride, padding=padding)


def conv1d_backward(grad_y, cache):
    p, w, padding = cache["p"], cache["w"], cache["padding"]
    outputs, inputs, kernel = w.shape
    grad_p, grad_w, grad_b = (
        np.zeros(p.shape, p.dtype),
        np.zeros(w.shape, w.dtype),
        np.zeros(outputs, w.dtype),
    )
    for steps, matrix, reads in _matrices(p, kernel, cache["stride"]):
        flat = grad_y[:, :, steps].swapaxes(0, 1).reshape(outputs, matrix.shape[1])
        grad_w += (flat @ matrix.T).reshape(w.shape)
        grad_b += flat @ np.ones(flat.shape[1], flat.dtype)
        per_tap = w.reshape(outputs, len(matrix)).T @ flat
        per_tap = per_tap.reshape(inputs, kernel, len(p), steps.stop - steps.start).transpose(
            1, 2, 0, 3
        )
        for read, part in zip(reads, per_tap, strict=True):
            grad_p[:, :, read] += part
    stop = grad_p.shape[2] - padding
    return grad_p[:, :, padding:stop].copy(), grad_w, grad_b


def train_step(w, b, x, target, lr, stride=1, padding=0):
    y, cache = conv1d_forward(x, w, b, stride, padding)
    _, grad_w, grad_b = conv1d_backward(2 * (y - target) / y.size, cache)
    return (
        np.subtract(w, lr * grad_w),
        np.subtract(b, lr * grad_b),
        float(((y - target) ** 2).mean()),
    )
