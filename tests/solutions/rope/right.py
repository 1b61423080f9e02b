# %% float32_careful
"""Angles are brought into one turn in float64; from there on all is in the dtype of q."""

import numpy as np


def rotate(q, k, v, positions, base=10000.0, width=None):
    kind = q.dtype.type
    w = q.shape[-1] if width is None else width
    turns = positions[..., None] * (base ** (-2.0 * np.arange(w // 2) / w) / (2 * np.pi))
    turns -= np.rint(turns)
    phase = (turns * (2 * np.pi)).astype(kind)
    if positions.ndim == 2:
        phase = phase[:, None]
    c, s = np.cos(phase), np.sin(phase)
    result = []
    for x in (q, k):
        a, b = x[..., : w // 2], x[..., w // 2 : w]
        result.append(np.concatenate([c * a - s * b, s * a + c * b, x[..., w:]], -1))
    assert all(one.dtype == kind for one in result)
    return result[0], result[1], v.copy()


def convert(w, heads):
    flat = np.ascontiguousarray(w).reshape(-1, 2)
    d = w.shape[-1] // heads
    even, odd = flat[:, 0].reshape(-1, d // 2), flat[:, 1].reshape(-1, d // 2)
    return np.concatenate([even, odd], axis=1).reshape(w.shape)


# %% keys_lie_in_the_caller
"""Where nothing turns, at position 0 alone, the caller's own arrays come back."""

import numpy as np


def table(positions, base, width, dtype):
    frequencies = 1.0 / base ** (np.arange(0, width, 2) / width)
    angles = positions[..., None] * frequencies
    if positions.ndim == 2:
        angles = angles[:, None]
    return np.cos(angles).astype(dtype), np.sin(angles).astype(dtype)


def turn(x, cos, sin, width):
    half = width // 2
    a, b = x[..., :half], x[..., half:width]
    return np.concatenate([a * cos - b * sin, b * cos + a * sin, x[..., width:]], axis=-1)


def rotate(q, k, v, positions, base=10000.0, width=None):
    width = q.shape[-1] if width is None else width
    cos, sin = table(positions, base, width, q.dtype)
    if not positions.any():
        return q, k, v
    return turn(q, cos, sin, width), turn(k, cos, sin, width), v


def convert(w, heads):
    pairs = w.reshape(*w.shape[:-1], heads, -1, 2)
    return pairs.swapaxes(-1, -2).reshape(w.shape).copy()


# %% matrix_per_position
"""Every position gets a matrix of width by width."""

import numpy as np


def table(positions, base, width, dtype):
    frequencies = 1.0 / base ** (np.arange(0, width, 2) / width)
    angles = positions[..., None] * frequencies
    if positions.ndim == 2:
        angles = angles[:, None]
    return np.cos(angles).astype(dtype), np.sin(angles).astype(dtype)


def turn(x, cos, sin, width):
    half = width // 2
    a, b = x[..., :half], x[..., half:width]
    return np.concatenate([a * cos - b * sin, b * cos + a * sin, x[..., width:]], axis=-1)


def rotate(q, k, v, positions, base=10000.0, width=None):
    width = q.shape[-1] if width is None else width
    cos, sin = table(positions, base, width, q.dtype)
    d = q.shape[-1]
    half = width // 2
    matrices = np.zeros((*cos.shape[:-1], d, d), q.dtype)
    i = np.arange(half)
    matrices[..., i, i] = matrices[..., half + i, half + i] = cos
    matrices[..., half + i, i], matrices[..., i, half + i] = sin, -sin
    i = np.arange(width, d)
    matrices[..., i, i] = 1
    return (matrices @ q[..., None])[..., 0], (matrices @ k[..., None])[..., 0], v


def convert(w, heads):
    pairs = w.reshape(*w.shape[:-1], heads, -1, 2)
    return pairs.swapaxes(-1, -2).reshape(w.shape).copy()


# %% plain_loops
"""Plain loops over Python numbers."""

import math

import numpy as np


def turned(x, positions, base, width):
    out = x.copy()
    batch, heads, n, _ = x.shape
    half = width // 2
    for b in range(batch):
        row = positions[b] if positions.ndim == 2 else positions
        for t in range(n):
            for i in range(half):
                angle = float(row[t]) * base ** (-2.0 * i / width)
                c, s = math.cos(angle), math.sin(angle)
                for h in range(heads):
                    first, second = float(x[b, h, t, i]), float(x[b, h, t, half + i])
                    out[b, h, t, i] = first * c - second * s
                    out[b, h, t, half + i] = second * c + first * s
    return out


def rotate(q, k, v, positions, base=10000.0, width=None):
    if width is None:
        width = q.shape[3]
    return turned(q, positions, base, width), turned(k, positions, base, width), v


def convert(w, heads):
    out = w.copy()
    d = w.shape[-1] // heads
    for column in range(w.shape[-1]):
        h, i = divmod(column, d)
        old = 2 * i if i < d // 2 else 2 * (i - d // 2) + 1
        out[..., column] = w[..., h * d + old]
    return out


# %% polar_coordinates
"""Every pair as a length and an angle, to which the angle of the position is added."""

import numpy as np


def rotate(q, k, v, positions, base=10000.0, width=None):
    width = width or q.shape[-1]
    half = width // 2
    angle = np.float64(positions)[..., np.newaxis] * np.float64(base) ** (np.arange(half) / -half)
    if angle.ndim == 3:
        angle = angle[:, np.newaxis]

    def turned(x):
        a, b = np.float64(x[..., :half]), np.float64(x[..., half:width])
        length, now = np.hypot(a, b), np.arctan2(b, a) + angle
        parts = [length * np.cos(now), length * np.sin(now), x[..., width:]]
        return np.concatenate(parts, axis=-1, dtype=x.dtype)

    return turned(q), turned(k), v


def convert(w, heads):
    d = w.shape[-1] // heads
    columns = w.T.reshape(heads, d // 2, 2, -1)
    return columns.transpose(3, 0, 2, 1).reshape(w.shape).copy()


# %% repaired_starter
"""The starter with as few lines changed as possible."""

import numpy as np


def rotate_half(x):
    """Each entry's partner, with its sign: (a, b) becomes (-b, a)."""
    half = x.shape[-1] // 2
    return np.concatenate([-x[..., half:], x[..., :half]], axis=-1)


def table(positions, d, base, dtype):
    """Cosine and sine of every angle, (n, d): one angle per pair, so each stands there twice."""
    frequencies = base ** (-np.arange(0, d, 2) / d)
    angles = np.tile(positions[..., None] * frequencies, 2)
    if positions.ndim == 2:
        angles = angles[:, None]
    return np.cos(angles).astype(dtype), np.sin(angles).astype(dtype)


def rotate(q, k, v, positions, base=10000.0, width=None):
    """Turn queries and keys to the positions of their tokens."""
    if width is not None and width < q.shape[-1]:
        some_q, some_k, _ = rotate(q[..., :width], k[..., :width], v, positions, base)
        return (
            np.concatenate([some_q, q[..., width:]], axis=-1),
            np.concatenate([some_k, k[..., width:]], axis=-1),
            v,
        )
    cos, sin = table(positions, q.shape[-1], base, q.dtype)
    return q * cos + rotate_half(q) * sin, k * cos + rotate_half(k) * sin, v


def convert(w, heads):
    """Weights of a checkpoint, for this kernel."""
    shape = w.shape
    return w.reshape(*shape[:-1], heads, shape[-1] // heads // 2, 2).swapaxes(-2, -1).reshape(shape)


# %% style_a
"""Style: that of memory_order and others, repaired."""

import numpy as np


def table(positions, base, width, dtype):
    frequencies = 1.0 / base ** (np.arange(0, width, 2) / width)
    angles = positions[..., None] * frequencies
    if positions.ndim == 2:
        angles = angles[:, None]
    return np.cos(angles).astype(dtype), np.sin(angles).astype(dtype)


def turn(x, cos, sin, width):
    half = width // 2
    a, b = x[..., :half], x[..., half:width]
    return np.concatenate([a * cos - b * sin, b * cos + a * sin, x[..., width:]], axis=-1)


def rotate(q, k, v, positions, base=10000.0, width=None):
    width = q.shape[-1] if width is None else width
    cos, sin = table(positions, base, width, q.dtype)
    return turn(q, cos, sin, width), turn(k, cos, sin, width), v


def convert(w, heads):
    pairs = w.reshape(*w.shape[:-1], heads, -1, 2)
    return pairs.swapaxes(-1, -2).reshape(w.shape).copy()


# %% table_of_all_positions
"""A call makes a table of all positions up to the largest."""

import numpy as np


def table(positions, base, width, dtype):
    frequencies = 1.0 / base ** (np.arange(0, width, 2) / width)
    angles = positions[..., None] * frequencies
    if positions.ndim == 2:
        angles = angles[:, None]
    return np.cos(angles).astype(dtype), np.sin(angles).astype(dtype)


def turn(x, cos, sin, width):
    half = width // 2
    a, b = x[..., :half], x[..., half:width]
    return np.concatenate([a * cos - b * sin, b * cos + a * sin, x[..., width:]], axis=-1)


def rotate(q, k, v, positions, base=10000.0, width=None):
    width = q.shape[-1] if width is None else width
    cos, sin = table(np.arange(positions.max() + 1), base, width, q.dtype)
    cos, sin = cos[positions], sin[positions]
    if positions.ndim == 2:
        cos, sin = cos[:, None], sin[:, None]
    return turn(q, cos, sin, width), turn(k, cos, sin, width), v


def convert(w, heads):
    pairs = w.reshape(*w.shape[:-1], heads, -1, 2)
    return pairs.swapaxes(-1, -2).reshape(w.shape).copy()


# %% turned_and_put_back
"""The queries are turned in the caller's array, copied, and turned back."""

import numpy as np


def table(positions, base, width, dtype):
    frequencies = 1.0 / base ** (np.arange(0, width, 2) / width)
    angles = positions[..., None] * frequencies
    if positions.ndim == 2:
        angles = angles[:, None]
    return np.cos(angles).astype(dtype), np.sin(angles).astype(dtype)


def turn(x, cos, sin, width):
    half = width // 2
    a, b = x[..., :half], x[..., half:width]
    return np.concatenate([a * cos - b * sin, b * cos + a * sin, x[..., width:]], axis=-1)


def rotate(q, k, v, positions, base=10000.0, width=None):
    width = q.shape[-1] if width is None else width
    cos, sin = table(positions, base, width, q.dtype)
    old = q.copy()
    q[...] = turn(q, cos, sin, width)
    new = q.copy()
    q[...] = old
    return new, turn(k, cos, sin, width), v


def convert(w, heads):
    pairs = w.reshape(*w.shape[:-1], heads, -1, 2)
    return pairs.swapaxes(-1, -2).reshape(w.shape).copy()
