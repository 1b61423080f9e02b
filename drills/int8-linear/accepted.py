# %% float64-sums
"""The starter, repaired; sums in float64, which holds them as well, and the slope of the step."""

import numpy as np

def quantize_weight(w):
    scale = np.abs(w).max(axis=1) / w.dtype.type(127)
    scale[scale == 0] = 1
    return np.rint(w / scale[:, None]).astype(np.int8), scale

def int8_linear(xq, x_scale, wq, w_scale):
    total = xq.astype(np.float64) @ wq.T.astype(np.float64)
    return (total * x_scale[:, None] * w_scale).astype(np.float32)

def linear(x, wq, w_scale, threshold=np.inf):
    out = np.abs(x).max(axis=0) >= threshold
    kept = x.copy()
    kept[:, out] = 0
    xq, x_scale = quantize_weight(kept)
    return int8_linear(xq, x_scale, wq, w_scale) + x[:, out] @ (wq[:, out].T * w_scale)

def qat_backward(grad_y, x, w, clip):
    wq, w_scale = quantize_weight(w)
    step = clip / 127
    v = x / step
    limited = np.clip(v, -127, 127)
    whole = np.rint(limited)
    g = grad_y @ (wq * w_scale[:, None])
    beyond = np.abs(x) > clip
    of_step = np.where(beyond, whole, whole - v)
    return np.where(beyond, 0, g), grad_y.T @ (whole * step), float((g * of_step).sum() / 127)

# %% token-by-token
"""Loops over tokens and outputs in Python."""

import numpy as np

def _row(row):
    peak = max(abs(float(v)) for v in row)
    if peak == 0:
        return np.zeros(len(row), np.int8), 0.0
    scale = peak / 127
    return np.array([round(float(v) / scale) for v in row], np.int8), scale

def quantize_weight(w):
    rows = [_row(row) for row in w]
    return np.array([q for q, _ in rows]), np.array([s for _, s in rows], w.dtype)

def int8_linear(xq, x_scale, wq, w_scale):
    y = np.zeros((len(xq), len(wq)), np.float32)
    for n in range(len(xq)):
        for f in range(len(wq)):
            total = int(np.dot(xq[n].astype(np.int64), wq[f].astype(np.int64)))
            y[n, f] = float(x_scale[n]) * float(w_scale[f]) * total
    return y

def linear(x, wq, w_scale, threshold=np.inf):
    alone = [d for d in range(x.shape[1]) if max(abs(x[:, d])) >= threshold]
    rest = [d for d in range(x.shape[1]) if d not in alone]
    y = np.zeros((len(x), len(wq)), np.float32)
    for n, token in enumerate(x):
        if rest:
            numbers, scale = _row(token[rest])
            y[n] += int8_linear(numbers[None], np.array([scale], np.float32), wq[:, rest], w_scale)[0]
        for d in alone:
            y[n] += token[d] * (wq[:, d] * w_scale)
    return y

def qat_backward(grad_y, x, w, clip):
    wq, scale = quantize_weight(w)
    w_hat = wq * scale[:, None]
    grad_x, grad_w, grad_clip = np.zeros_like(x), np.zeros_like(w), 0.0
    for n in range(x.shape[0]):
        for d in range(x.shape[1]):
            arriving = sum(grad_y[n, f] * w_hat[f, d] for f in range(len(w)))
            v = x[n, d]
            if abs(v) <= clip:
                x_hat = round(v / clip * 127) * clip / 127
                grad_x[n, d] = arriving
                grad_clip += arriving * (x_hat - v) / clip
            else:
                x_hat = clip if v > 0 else -clip
                grad_clip += arriving * (1 if v > 0 else -1)
            grad_w[:, d] += grad_y[n] * x_hat
    return grad_x, grad_w, float(grad_clip)

# %% reciprocals-and-einsum
"""Rows are multiplied by 127 / max, and rows of zeros by 0."""

import numpy as np

def _q(a):
    top = np.abs(a).max(1, initial=0)
    inv = np.divide(127, top, out=np.zeros_like(top), where=top > 0)
    return np.round(a * inv[:, None]).clip(-127, 127).astype(np.int8), top / a.dtype.type(127)

def quantize_weight(w):
    return _q(w)

def int8_linear(xq, x_scale, wq, w_scale):
    total = np.einsum("nd,fd->nf", xq, wq, dtype=np.int32, casting="unsafe")
    return (total * np.outer(x_scale, w_scale).astype(np.float64)).astype(np.float32)

def linear(x, wq, w_scale, threshold=np.inf):
    keep = np.abs(x).max(0) < threshold
    q, s = _q(x[:, keep])
    y = int8_linear(q, s, wq[:, keep], w_scale)
    return (y + np.einsum("nd,fd,f->nf", x[:, ~keep], wq[:, ~keep], w_scale)).astype(np.float32)

def qat_backward(grad_y, x, w, clip):
    wq, w_scale = quantize_weight(w)
    g = np.einsum("nf,fd,f->nd", grad_y, wq.astype(float), w_scale)
    limited = np.clip(x, -clip, clip)
    x_hat = np.rint(limited * (127 / clip)) * clip / 127
    inside = (limited == x).astype(float)
    slope = x_hat / clip - inside * x / clip
    return g * inside, np.einsum("nf,nd->fd", grad_y, x_hat), float(np.einsum("nd,nd->", g, slope))

# %% classes
"""A type for quantized rows, and one for the layer."""

from dataclasses import dataclass
import numpy as np

@dataclass
class Rows:
    numbers: np.ndarray
    scale: np.ndarray

    @classmethod
    def of(cls, a):
        peak = np.maximum(a.max(axis=-1), -a.min(axis=-1))
        scale = np.where(peak == 0, a.dtype.type(127), peak) / a.dtype.type(127)
        return cls(np.around(a / scale.reshape(-1, 1)).astype("int8"), scale)

    def dense(self):
        return self.numbers * self.scale.reshape(-1, 1)

    def times(self, other):
        whole = np.matmul(self.numbers, other.numbers.T, dtype=np.int64)
        return np.float32(whole * np.multiply.outer(self.scale.astype(float), other.scale.astype(float)))

def quantize_weight(w):
    rows = Rows.of(w)
    return rows.numbers, rows.scale

def int8_linear(xq, x_scale, wq, w_scale):
    return Rows(xq, x_scale).times(Rows(wq, w_scale))

def linear(x, wq, w_scale, threshold=np.inf):
    weights = Rows(wq, w_scale)
    large = np.any(abs(x) >= threshold, axis=0)
    y = Rows.of(x * ~large).times(weights)
    if large.any():
        y = y + (x * large) @ weights.dense().T
    return y.astype(np.float32)

def qat_backward(grad_y, x, w, clip):
    weights = Rows.of(w).dense()
    scaled = x / clip
    whole = np.around(127 * scaled.clip(-1, 1)) / 127
    passes = abs(scaled) <= 1
    arriving = np.matmul(grad_y, weights)
    moves = whole - np.where(passes, scaled, 0)
    return np.where(passes, arriving, 0.0), np.matmul(grad_y.T, clip * whole), np.vdot(arriving, moves).item()

# %% blocks-of-inputs
"""Sums in float32 over blocks so short that they are exact, added in float64."""

import numpy as np

BLOCK = 1024

def quantize_weight(w):
    peak = np.linalg.norm(w, ord=np.inf, axis=1)
    peak = np.where(peak == 0, 1, peak).astype(w.dtype)
    return np.rint(w * 127 / peak[:, None]).astype(np.int8), peak / 127

def int8_linear(xq, x_scale, wq, w_scale):
    total = np.zeros((len(xq), len(wq)))
    for start in range(0, xq.shape[1], BLOCK):
        a, b = (q[:, start : start + BLOCK].astype(np.float32) for q in (xq, wq))
        total += a @ b.T
    return (x_scale[:, None] * (w_scale * total)).astype(np.float32)

def linear(x, wq, w_scale, threshold=np.inf):
    out = np.flatnonzero((np.abs(x) >= threshold).sum(axis=0))
    kept = np.delete(x, out, axis=1)
    if kept.shape[1] == 0:
        kept = np.zeros((len(x), 1), x.dtype)
        left = np.zeros((len(wq), 1), np.int8)
    else:
        left = np.delete(wq, out, axis=1)
    xq, x_scale = quantize_weight(kept)
    dense = (wq[:, out].astype(np.float32) * w_scale[:, None]).astype(np.float32)
    return int8_linear(xq, x_scale.astype(np.float32), left, w_scale) + np.dot(x[:, out], dense.T)

def qat_backward(grad_y, x, w, clip):
    wq, w_scale = quantize_weight(w)
    grad_x_hat = (grad_y * w_scale) @ wq
    x_hat = np.rint(127 * np.minimum(np.maximum(x, -clip), clip) / clip) * clip / 127
    above, below = x > clip, x < -clip
    inside = ~(above | below)
    grad_clip = grad_x_hat[above].sum() - grad_x_hat[below].sum()
    grad_clip += (grad_x_hat * (x_hat - x))[inside].sum() / clip
    return grad_x_hat * inside, (x_hat.T @ grad_y).T, float(grad_clip)

# %% closures
"""One function makes the quantizer of an axis; the gradients are lambdas over it."""

import functools
import numpy as np

def quantizer(top, axis):
    def apply(a):
        peak = functools.reduce(np.maximum, np.moveaxis(np.abs(a), axis, 0))
        scale = np.where(peak, peak, top).astype(a.dtype) / a.dtype.type(top)
        return np.rint(a / np.expand_dims(scale, axis)).astype(np.int8), scale

    return apply

rows = quantizer(127, 1)
quantize_weight = lambda w: rows(w)

def int8_linear(xq, x_scale, wq, w_scale):
    products = (q.astype(np.int32)[:, None] for q in (xq,))
    total = sum((p * wq.astype(np.int32)).sum(axis=2) for p in products)
    return np.float32(total) * np.float32(x_scale)[:, None] * np.float32(w_scale)[None]

def linear(x, wq, w_scale, threshold=np.inf):
    mask = np.logical_or.reduce(np.abs(x) >= threshold)
    numbers, scale = rows(np.where(mask[None], np.float32(0), x))
    extra = np.tensordot(x[:, mask], wq[:, mask] * w_scale[:, None], axes=([1], [1]))
    return int8_linear(numbers, scale, wq, w_scale) + extra

def qat_backward(grad_y, x, w, clip):
    numbers, scale = rows(w)
    hat = lambda v: np.rint(np.clip(v, -clip, clip) * 127 / clip) * clip / 127
    within = np.less_equal(np.abs(x), clip)
    back = np.tensordot(grad_y, numbers * scale[:, None], axes=1)
    in_clip = np.where(within, hat(x) / clip - x / clip, np.copysign(1, x))
    return np.multiply(back, within), np.tensordot(grad_y, hat(x), axes=([0], [0])), float(np.sum(back * in_clip))

# %% as-in-libraries
"""Named and laid out as in quantization libraries: absmax statistics, an outlier mask, a fake
quantizer."""

import numpy as np

class FakeQuantize:
    quant_min, quant_max = -127, 127

    def __init__(self, alpha):
        self.alpha = alpha

    def forward(self, x):
        self.x = x
        self.scale = self.alpha / self.quant_max
        self.x_int = np.clip(np.rint(x / self.scale), self.quant_min, self.quant_max)
        return self.x_int * self.scale

    def backward(self, grad_output):
        mask = (self.x >= -self.alpha) & (self.x <= self.alpha)
        grad_alpha = np.where(mask, (self.x_int - self.x / self.scale) / self.quant_max, np.sign(self.x))
        return grad_output * mask, np.sum(grad_output * grad_alpha)

def vectorwise_quant(A, out_stats=None):
    row_stats = np.amax(np.abs(A), axis=1)
    safe = np.where(row_stats == 0, np.ones_like(row_stats), row_stats)
    return np.rint(A * (127 / safe.astype(np.float64))[:, None]).astype(np.int8), safe / A.dtype.type(127)

def quantize_weight(w):
    return vectorwise_quant(w)

def int8_linear(xq, x_scale, wq, w_scale):
    acc = np.matmul(xq.astype(np.int32), wq.astype(np.int32).transpose())
    return (acc * (x_scale.reshape(-1, 1).astype(np.float64) * w_scale.reshape(1, -1))).astype(np.float32)

def linear(x, wq, w_scale, threshold=np.inf):
    outlier_cols = np.argwhere((np.abs(x) >= threshold).any(axis=0)).ravel()
    subA = x[:, outlier_cols].copy()
    A = x.copy()
    A[:, outlier_cols] = 0
    CA, SCA = vectorwise_quant(A)
    output = int8_linear(CA, SCA, wq, w_scale)
    if outlier_cols.size:
        subB = (wq[:, outlier_cols] * w_scale[:, None]).T
        output = output + subA @ subB.astype(x.dtype)
    return output

def qat_backward(grad_y, x, w, clip):
    wq, w_scale = quantize_weight(w)
    act = FakeQuantize(clip)
    x_hat = act.forward(x)
    grad_x, grad_alpha = act.backward(grad_y @ (wq * w_scale[:, None]))
    return grad_x, grad_y.T @ x_hat, float(grad_alpha)

# %% transposed
"""Everything is kept as (in, out) inside, and turned on the way in and out."""

import numpy as np

def _columns(a):
    peak = np.abs(a).max(axis=0, keepdims=True)
    scale = peak / a.dtype.type(127) + (peak == 0)
    return np.rint(a / scale).astype(np.int8), scale[0].astype(a.dtype)

def quantize_weight(w):
    numbers, scale = _columns(w.T)
    return np.ascontiguousarray(numbers.T), scale

def int8_linear(xq, x_scale, wq, w_scale):
    total = wq.astype(np.int64) @ xq.T.astype(np.int64)
    return ((total * w_scale[:, None].astype(float)) * x_scale).T.astype(np.float32)

def linear(x, wq, w_scale, threshold=np.inf):
    t = x.T.copy()
    out = (np.abs(t) >= threshold).any(axis=1)
    large = t[out].copy()
    t[out] = 0
    numbers, scale = _columns(t)
    y = int8_linear(numbers.T, scale, wq, w_scale).T
    return (y + (wq[:, out] * w_scale[:, None]) @ large).T

def qat_backward(grad_y, x, w, clip):
    numbers, scale = _columns(w.T)
    xt, gt = x.T, grad_y.T
    hat = np.rint(np.clip(xt, -clip, clip) * 127 / clip) / 127
    back = (numbers * scale) @ gt
    inside = np.abs(xt) <= clip
    slope = np.select([inside, xt > 0], [hat - xt / clip, 1], -1)
    return (back * inside).T, gt @ (clip * hat).T, float((back * slope).sum())

# %% axis-and-column
# part: 1
"""What a colleague would merge when no more is asked."""

import numpy as np

def quantize_weight(w):
    scale = np.abs(w).max(axis=1, keepdims=True) / 127
    return np.round(w / scale).astype(np.int8), scale.squeeze(1)

def int8_linear(xq, x_scale, wq, w_scale):
    total = xq.astype(np.float32) @ wq.T.astype(np.float32)
    return total * x_scale[:, None] * w_scale
