"""Wrong: halves are turned, and written as neighbors."""
# named: read-by-one-rule-written-by-another

import numpy as np

def turn(x, cos, sin):
    out = np.array(x)
    half = cos.shape[-1]
    a, b = x[..., :half], x[..., half : 2 * half]
    out[..., 0 : 2 * half : 2] = a * cos - b * sin
    out[..., 1 : 2 * half : 2] = a * sin + b * cos
    return out

def rotate(q, k, v, positions, base=10000.0, width=None):
    if width is None:
        width = q.shape[-1]
    rows = positions if positions.ndim == 2 else positions[None]
    angle = rows[:, None, :, None] / np.power(base, np.arange(0.0, width, 2.0) / width)
    cos, sin = np.cos(angle).astype(q.dtype), np.sin(angle).astype(q.dtype)
    return turn(q, cos, sin), turn(k, cos, sin), v

def convert(w, heads):
    out = np.empty_like(w)
    d = w.shape[-1] // heads
    for h in range(heads):
        out[..., h * d : h * d + d // 2] = w[..., h * d : (h + 1) * d : 2]
        out[..., h * d + d // 2 : (h + 1) * d] = w[..., h * d + 1 : (h + 1) * d : 2]
    return out
