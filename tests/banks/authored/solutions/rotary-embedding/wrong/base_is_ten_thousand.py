import numpy as np


def angles(positions, width, base):
    rates = 10000.0 ** (-2.0 * np.arange(width // 2) / width)
    return (positions[:, None] * rates)[:, None, :]


def turned(x, angle):
    half = x.shape[-1] // 2
    cos, sin = np.cos(angle).astype(x.dtype), np.sin(angle).astype(x.dtype)
    a, b = x[..., :half], x[..., half:]
    return np.concatenate([a * cos - b * sin, a * sin + b * cos], axis=-1)


def rope(x, positions, base):
    return turned(x, angles(positions, x.shape[-1], base))


def rope_backward(grad_y, positions, base):
    return turned(grad_y, -angles(positions, grad_y.shape[-1], base))
