import numpy as np


def _spun(x, positions, base, sign):
    half = x.shape[-1] // 2
    rates = np.power(float(base), -np.arange(half) / half)
    spin = np.exp(sign * 1j * np.outer(positions, rates))[None, :, None, :]
    z = (x[..., :half] + 1j * x[..., half:]) * spin
    return np.concatenate([z.real, z.imag], axis=-1).astype(x.dtype)


def rope(x, positions, base):
    return _spun(x, positions, base, +1)


def rope_backward(grad_y, positions, base):
    return _spun(grad_y, positions, base, -1)
