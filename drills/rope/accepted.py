# %% complex-numbers
"""A pair is a complex number, and a rotation a product."""

import numpy as np

def rotate(q, k, v, positions, base=10000.0, width=None):
    w = width or q.shape[-1]
    phases = np.multiply.outer(positions, base ** (-np.arange(0, w, 2) / w))
    turn = np.exp(1j * phases)
    if turn.ndim == 3:
        turn = turn[:, np.newaxis]

    def turned(x):
        z = (x[..., : w // 2] + 1j * x[..., w // 2 : w]) * turn
        return np.concatenate([z.real, z.imag, x[..., w:]], axis=-1).astype(x.dtype)

    return turned(q), turned(k), v.copy()

def convert(w, heads):
    d = w.shape[-1] // heads
    order = [h * d + i for h in range(heads) for i in [*range(0, d, 2), *range(1, d, 2)]]
    return w[..., order]

# %% einsum-of-matrices
"""A 2 by 2 matrix for every angle, and an einsum."""

import numpy as np

def rotate(q, k, v, positions, base=10000.0, width=None):
    B, H, n, d = q.shape
    w = d if width is None else width
    rows = np.broadcast_to(positions, (B, n))
    a = np.einsum("bn,i->bni", rows, 1.0 / base ** (2 * np.arange(w // 2) / w))
    R = np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])  # (2, 2, B, n, w / 2)

    def turned(x):
        planes = x[..., :w].reshape(B, H, n, 2, w // 2)
        y = x.copy(order="C")
        y[..., :w] = np.einsum("rcbni,bhnci->bhnri", R, planes).reshape(B, H, n, w)
        return y

    return turned(q), turned(k), v

def convert(w, heads):
    pairs = w.reshape(w.shape[:-1] + (heads, -1, 2))
    return np.einsum("...ij->...ji", pairs).reshape(w.shape).copy()

# %% functools-and-closures
"""A function that makes the function that turns; frequencies by a Python loop, kept for the next call."""

import functools
import math

import numpy as np

@functools.lru_cache(maxsize=None)
def frequencies(width, base):
    return tuple(math.exp(-2 * i / width * math.log(base)) for i in range(width // 2))

def turner(positions, base, width):
    angles = np.stack([positions * f for f in frequencies(width, base)], axis=-1)
    if positions.ndim > 1:
        angles = np.expand_dims(angles, 1)
    cos, sin = np.cos(angles), np.sin(angles)

    def turn(x):
        c, s = cos.astype(x.dtype), sin.astype(x.dtype)
        first, second, rest = np.split(x, [width // 2, width], axis=-1)
        return np.concatenate((first * c - second * s, second * c + first * s, rest), axis=-1)

    return turn

def rotate(q, k, v, positions, base=10000.0, width=None):
    turn = turner(positions, float(base), q.shape[-1] if width is None else int(width))
    return turn(q), turn(k), v

def convert(w, heads):
    order = np.arange(w.shape[-1]).reshape(heads, -1, 2).swapaxes(1, 2).ravel()
    return np.take(w, order, axis=-1)

# %% halves-in-place
"""Copies, the halves of which are multiplied in place."""

import numpy as np

def turn(x, cos, sin):
    out = np.array(x)
    half = cos.shape[-1]
    a, b = out[..., :half], out[..., half : 2 * half]
    old = a.copy()
    a *= cos
    a -= b * sin
    b *= cos
    old *= sin
    b += old
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

# %% reshaped-planes
"""An axis of two for the halves, and its mirror image with a sign."""

import numpy as np

class Rotary:
    sign = np.array([[-1], [1]])

    def __init__(self, base, width):
        self.width = width
        self.speed = np.power(float(base), np.linspace(0, -1, width // 2, endpoint=False))

    def table(self, positions):
        phase = np.tensordot(positions, self.speed, axes=0)[..., None, :]
        return np.cos(phase), np.sin(phase)

    def __call__(self, x, positions):
        cos, sin = self.table(positions if positions.ndim == 1 else positions[:, None])
        planes = x[..., : self.width].astype(np.float64).reshape(*x.shape[:-1], 2, -1)
        turned = planes * cos + self.sign * planes[..., ::-1, :] * sin
        out = x.copy()
        out[..., : self.width] = turned.reshape(*x.shape[:-1], self.width)
        return out

def rotate(q, k, v, positions, base=10000.0, width=None):
    rotary = Rotary(base, width or q.shape[3])
    return rotary(q, positions), rotary(k, positions), v

def convert(w, heads):
    d = w.shape[-1] // heads
    each = np.split(w, heads, axis=-1)
    return np.hstack([np.hstack([one[..., 0:d:2], one[..., 1:d:2]]) for one in each])

# %% rotate-half-with-padding
"""A table of all d columns; what does not turn has the angle 0 and no partner."""

import numpy as np

def rotate_half(x, width):
    half = width // 2
    return np.concatenate([-x[..., half:width], x[..., :half], x[..., width:]], axis=-1)

def rotate(q, k, v, positions, base=10000.0, width=None):
    d = q.shape[-1]
    width = d if width is None else width
    frequencies = 1 / (base ** (np.arange(0, width, 2, dtype=np.float64) / width))
    frequencies = np.concatenate([frequencies, frequencies, np.zeros(d - width)])
    angles = positions[..., None].astype(np.float64) * frequencies
    if positions.ndim == 2:
        angles = angles[:, None]
    cos, sin = np.cos(angles).astype(q.dtype), np.sin(angles).astype(q.dtype)
    return q * cos + rotate_half(q, width) * sin, k * cos + rotate_half(k, width) * sin, v

def convert(w, heads):
    return w.reshape(*w.shape[:-1], heads, -1, 2).swapaxes(-1, -2).reshape(w.shape).copy()

# %% sums-of-angles
"""Tables for the thousands and for the units of a position, and the sines of sums of angles."""

import numpy as np

def table(positions, frequencies):
    """Cosine and sine, (..., n, pairs), from two tables of a few rows each."""
    thousands, units = np.divmod(positions, 1024)
    high, where_high = np.unique(thousands, return_inverse=True)
    low, where_low = np.unique(units, return_inverse=True)
    a, b = np.outer(high * 1024, frequencies), np.outer(low, frequencies)
    a_of, b_of = where_high.reshape(positions.shape), where_low.reshape(positions.shape)
    cos_a, sin_a, cos_b, sin_b = np.cos(a)[a_of], np.sin(a)[a_of], np.cos(b)[b_of], np.sin(b)[b_of]
    return cos_a * cos_b - sin_a * sin_b, sin_a * cos_b + cos_a * sin_b

def rotate(q, k, v, positions, base=10000.0, width=None):
    width = width if width is not None else q.shape[-1]
    half = width // 2
    cos, sin = table(positions, np.logspace(0, -2 / width * (half - 1), half, base=base))
    if positions.ndim == 2:
        cos, sin = cos[:, None], sin[:, None]
    both = []
    for x in (q, k):
        y = np.empty(x.shape, x.dtype)
        y[..., :half] = x[..., :half] * cos - x[..., half:width] * sin
        y[..., half:width] = x[..., :half] * sin + x[..., half:width] * cos
        y[..., width:] = x[..., width:]
        both.append(y)
    return *both, v

def convert(w, heads):
    d = w.shape[-1] // heads
    old = np.argsort(np.arange(w.shape[-1]) % d % 2 + 2 * (np.arange(w.shape[-1]) // d), kind="stable")
    return w[..., old]

# %% token-by-token
"""A loop over the tokens, each with its matrix of d by d."""

import numpy as np

def matrix(m, d, base, width):
    half = width // 2
    R = np.eye(d)
    for i in range(half):
        a = int(m) * base ** (-2 * i / width)
        R[i, i] = R[half + i, half + i] = np.cos(a)
        R[half + i, i] = np.sin(a)
        R[i, half + i] = -np.sin(a)
    return R

def rotate(q, k, v, positions, base=10000.0, width=None):
    B, H, n, d = q.shape
    new_q, new_k = np.empty(q.shape, q.dtype), np.empty(k.shape, k.dtype)
    for b in range(B):
        row = positions[b] if positions.ndim == 2 else positions
        for t in range(n):
            R = matrix(row[t], d, base, d if width is None else width)
            new_q[b, :, t] = q[b, :, t] @ R.T
            new_k[b, :, t] = k[b, :, t] @ R.T
    return new_q, new_k, v

def convert(w, heads):
    width = w.shape[-1]
    d = width // heads
    P = np.zeros((width, width), w.dtype)
    for h in range(heads):
        for i in range(d // 2):
            P[h * d + 2 * i, h * d + i] = 1
            P[h * d + 2 * i + 1, h * d + d // 2 + i] = 1
    return w @ P

# %% cached-table-of-2048
# part: 1
"""As in GPT-NeoX and its kin: a float32 table for all positions of a context, looked up."""

import numpy as np

MAX_SEQ_LEN = 2048

def precompute_cos_sin(dim, base):
    theta = np.float32(base) ** (-2 * np.arange(dim // 2, dtype=np.float32) / dim)
    freqs = np.einsum("i,j->ij", np.arange(MAX_SEQ_LEN, dtype=np.float32), theta)
    return np.cos(freqs), np.sin(freqs)

def apply_rotary(x, cos, sin):
    x1, x2 = np.split(x, 2, axis=-1)
    return np.concatenate([x1 * cos - x2 * sin, x2 * cos + x1 * sin], axis=-1)

def rotate(q, k, v, positions, base=10000.0, width=None):
    if q.shape[-1] % 2 != 0:
        raise ValueError(f"head_dim must be even, got {q.shape[-1]}")
    cos, sin = precompute_cos_sin(q.shape[-1], base)
    cos, sin = cos[positions], sin[positions]
    return apply_rotary(q, cos, sin), apply_rotary(k, cos, sin), v

def convert(w, heads):
    raise NotImplementedError

# %% complex-in-float32
# part: 1
"""As in Llama's own code, freqs_cis as complex64; halves of a head are the pairs."""

import numpy as np

def precompute_freqs_cis(dim, positions, theta):
    freqs = 1.0 / (theta ** (np.arange(0, dim, 2)[: dim // 2].astype(np.float32) / dim))
    freqs = np.outer(positions, freqs).astype(np.float32)
    return np.exp(1j * freqs).astype(np.complex64)

def apply_rotary_emb(xq, xk, freqs_cis):
    def one(x):
        half = x.shape[-1] // 2
        x_ = (x[..., :half] + 1j * x[..., half:]) * freqs_cis
        return np.concatenate([x_.real, x_.imag], axis=-1)

    return one(xq), one(xk)

def rotate(q, k, v, positions, base=10000.0, width=None):
    freqs_cis = precompute_freqs_cis(q.shape[-1], positions, base)
    xq, xk = apply_rotary_emb(q, k, freqs_cis)
    return xq, xk, v

def convert(w, heads):
    raise NotImplementedError

# %% rotate-half-in-float32
# part: 1
"""As in Hugging Face's models: inverse frequencies in float32, an embedding of two halves."""

import numpy as np

def rotate_half(x):
    x1, x2 = x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2 :]
    return np.concatenate((-x2, x1), axis=-1)

class RotaryEmbedding:
    def __init__(self, dim, base=10000):
        self.inv_freq = (1.0 / (base ** (np.arange(0, dim, 2).astype(np.float32) / dim))).astype(
            np.float32
        )

    def __call__(self, position_ids):
        freqs = np.outer(position_ids.astype(np.float32), self.inv_freq)
        emb = np.concatenate((freqs, freqs), axis=-1)
        return np.cos(emb), np.sin(emb)

def apply_rotary_pos_emb(q, k, cos, sin):
    cos, sin = cos[None, None], sin[None, None]
    return (q * cos) + (rotate_half(q) * sin), (k * cos) + (rotate_half(k) * sin)

def rotate(q, k, v, positions, base=10000.0, width=None):
    cos, sin = RotaryEmbedding(q.shape[-1], base)(positions)
    q, k = apply_rotary_pos_emb(q, k, cos, sin)
    return q, k, v

def convert(w, heads):
    raise NotImplementedError
