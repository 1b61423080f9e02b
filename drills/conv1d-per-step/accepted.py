# %% as-strided
"""Style: hand-made windows with as_strided on the padded copy, which is ours and contiguous."""

import numpy as np
from numpy.lib.stride_tricks import as_strided

def _view(padded, kernel, stride, steps, writeable):
    n, c, i = padded.strides
    shape = (*padded.shape[:2], steps, kernel)
    return as_strided(padded, shape, (n, c, i * stride, i), writeable=writeable)

def conv1d_forward(x, w, b, stride=1, padding=0):
    N, Cin, L = x.shape
    padded = np.zeros((N, Cin, L + 2 * padding), dtype=x.dtype)
    padded[:, :, padding : padding + L] = x
    kernel = w.shape[2]
    steps = (padded.shape[2] - kernel) // stride + 1
    windows = _view(padded, kernel, stride, steps, False)
    # einsum walks over the view as it is; tensordot would first make a copy of every window.
    y = np.einsum("nctk,ock->not", windows, w) + b[:, None]
    return y, (windows, padded.shape, w, stride, padding, L)

def conv1d_backward(grad_y, cache):
    windows, padded_shape, w, stride, padding, length = cache
    grad_w = np.einsum("not,nctk->ock", grad_y, windows)
    grad_padded = np.zeros(padded_shape, dtype=grad_y.dtype)
    target = _view(grad_padded, w.shape[2], stride, grad_y.shape[2], True)
    for t in range(grad_y.shape[2]):
        target[:, :, t, :] += np.tensordot(grad_y[:, :, t], w, axes=(1, 0))
    return grad_padded[:, :, padding : padding + length].copy(), grad_w, grad_y.sum((0, 2))

def train_step(w, b, x, target, lr, stride=1, padding=0):
    y, cache = conv1d_forward(x, w, b, stride, padding)
    r = np.subtract(y, target)
    _, gw, gb = conv1d_backward(np.divide(2.0 * r, r.size), cache)
    return np.subtract(w, lr * gw), np.subtract(b, lr * gb), float(np.square(r).mean())

# %% bincount
"""Style: grad_x by np.bincount with weights, tap by tap in float64, cast back at the end."""

import numpy as np

def conv1d_forward(x, w, b, stride=1, padding=0):
    N, Cin, L = x.shape
    K = w.shape[2]
    starts = stride * np.arange((L + 2 * padding - K) // stride + 1)
    padded = np.concatenate(
        [np.zeros((N, Cin, padding), x.dtype), x, np.zeros((N, Cin, padding), x.dtype)], axis=2
    )
    y = np.zeros((N, len(w), len(starts)), x.dtype)
    for k in range(K):
        y += np.einsum("nct,oc->not", padded[:, :, starts + k], w[:, :, k])
    return y + b.reshape(1, -1, 1), (x, w, stride, padding)

def conv1d_backward(grad_y, cache):
    x, w, stride, padding = cache
    N, Cin, L = x.shape
    padded = np.pad(x, ((0, 0), (0, 0), (padding, padding)))
    width = padded.shape[2]
    starts = np.arange(N * Cin).reshape(N, Cin, 1) * width + stride * np.arange(grad_y.shape[2])
    flat, grad_w = np.zeros(padded.size), np.zeros(w.shape, w.dtype)
    for k in range(w.shape[2]):
        pieces = np.einsum("not,oc->nct", grad_y, w[:, :, k], dtype=np.float64)
        flat += np.bincount((starts + k).ravel(), pieces.ravel(), minlength=padded.size)
        grad_w[:, :, k] = np.einsum("not,nct->oc", grad_y, padded.reshape(-1)[starts + k])
    grad_x = flat.reshape(padded.shape)[:, :, padding : padding + L].astype(grad_y.dtype)
    return grad_x, grad_w, np.add.reduce(grad_y, axis=(0, 2))

def train_step(w, b, x, target, lr, stride=1, padding=0):
    y, cache = conv1d_forward(x, w, b, stride, padding)
    d = y - target
    _, gw, gb = conv1d_backward(d / (d.size / 2), cache)
    return w - lr * gw, b - lr * gb, float(np.sum(d * d) / d.size)

# %% callable-classes
"""Style: instances with __call__ instead of functions; the cache is an object with a method."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

class _Pass:
    def __init__(self, padded, w, stride, padding):
        self.padded = padded
        self.w = w
        self.stride = stride
        self.padding = padding

    @property
    def windows(self):
        return sliding_window_view(self.padded, self.w.shape[2], axis=2)[:, :, :: self.stride]

    def output(self, b):
        return np.einsum("nctk,ock->not", self.windows, self.w) + b[:, None]

    def gradients(self, grad_y):
        grad = np.zeros(self.padded.shape, dtype=self.padded.dtype)
        reach = self.stride * (grad_y.shape[2] - 1) + 1
        for k in range(self.w.shape[2]):
            grad[:, :, k : k + reach : self.stride] += np.einsum(
                "not,oc->nct", grad_y, self.w[:, :, k]
            )
        inner = grad[:, :, self.padding : grad.shape[2] - self.padding]
        return inner, np.einsum("not,nctk->ock", grad_y, self.windows), grad_y.sum(axis=(0, 2))

class Forward:
    def __call__(self, x, w, b, stride=1, padding=0):
        done = _Pass(np.pad(x, ((0, 0), (0, 0), (padding, padding))), w, stride, padding)
        return done.output(b), done

class Backward:
    def __call__(self, grad_y, cache):
        return cache.gradients(grad_y)

class Step:
    def __init__(self, forward, backward):
        self.forward = forward
        self.backward = backward

    def __call__(self, w, b, x, target, lr, stride=1, padding=0):
        y, cache = self.forward(x, w, b, stride, padding)
        residual = y - target
        _, grad_w, grad_b = self.backward(2.0 / residual.size * residual, cache)
        return w - lr * grad_w, b - lr * grad_b, float(np.mean(np.abs(residual) ** 2))

conv1d_forward = Forward()
conv1d_backward = Backward()
train_step = Step(conv1d_forward, conv1d_backward)

# %% closures
"""Style: the cache is the backward pass itself, a closure; train_step derives its own gradients."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

def conv1d_forward(x, w, b, stride=1, padding=0):
    length = x.shape[-1]  # all that backward needs of x: it is in xp
    xp = np.pad(x, ((0, 0), (0, 0), (padding, padding)))
    win = sliding_window_view(xp, w.shape[-1], -1)[..., ::stride, :]

    def backward(grad_y):
        gxp = np.zeros_like(xp)
        for t in range(grad_y.shape[-1]):
            for k in range(w.shape[-1]):
                gxp[..., t * stride + k] += grad_y[..., t] @ w[..., k]
        gx = gxp[..., padding : padding + length]
        return gx, np.einsum("not,nctk->ock", grad_y, win), np.einsum("not->o", grad_y)

    return np.einsum("ock,nctk->not", w, win) + b[:, None], backward

def conv1d_backward(grad_y, cache):
    return cache(grad_y)

def train_step(w, b, x, target, lr, stride=1, padding=0):
    xp = np.pad(x, ((0, 0), (0, 0), (padding, padding)))
    win = sliding_window_view(xp, w.shape[-1], -1)[..., ::stride, :]
    miss = np.einsum("ock,nctk->not", w, win) + b[:, None] - target
    scale = 2.0 * lr / miss.size
    w_new = w - scale * np.einsum("not,nctk->ock", miss, win)
    return w_new, b - scale * miss.sum(axis=(0, 2)), float(np.mean(miss**2))

# %% double-inside
"""Style: computes in float64 whatever comes in, and casts the results back."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

def conv1d_forward(x, w, b, stride=1, padding=0):
    wide = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (padding, padding)))
    windows = sliding_window_view(wide, w.shape[2], axis=2)[:, :, ::stride]
    y = np.einsum("nctk,ock->not", windows, w.astype(np.float64)) + b.astype(np.float64)[:, None]
    return y.astype(x.dtype), (x, w, stride, padding)  # as they came: a float64 copy is twice x

def conv1d_backward(grad_y, cache):
    x, w, stride, padding = cache
    dtype, w, g = x.dtype, w.astype(np.float64), grad_y.astype(np.float64)
    wide = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (padding, padding)))
    windows = sliding_window_view(wide, w.shape[2], axis=2)[:, :, ::stride]
    grad_wide = np.zeros_like(wide)
    reach = stride * (g.shape[2] - 1) + 1
    for k in range(w.shape[2]):
        grad_wide[:, :, k : k + reach : stride] += np.einsum("not,oc->nct", g, w[:, :, k])
    grad_x = grad_wide[:, :, padding : wide.shape[2] - padding]
    grad_w = np.einsum("not,nctk->ock", g, windows)
    return grad_x.astype(dtype), grad_w.astype(dtype), g.sum(axis=(0, 2)).astype(dtype)

def train_step(w, b, x, target, lr, stride=1, padding=0):
    dtype = w.dtype
    w, b, x, target = (a.astype(np.float64) for a in (w, b, x, target))
    y, cache = conv1d_forward(x, w, b, stride, padding)
    residual = y - target
    _, grad_w, grad_b = conv1d_backward(2.0 / residual.size * residual, cache)
    w_new, b_new = (w - lr * grad_w).astype(dtype), (b - lr * grad_b).astype(dtype)
    return w_new, b_new, np.mean(residual**2)

# %% im2col
"""Style: im2col, a block of output steps at a time, each of them two or three matrix products."""

import numpy as np

BLOCK = 64

def _blocks(steps, kernel, stride):
    """Yield the steps of each block and the padded positions (t, K) that they see."""
    for first in range(0, steps, BLOCK):
        block = np.arange(first, min(first + BLOCK, steps))
        yield block, (block * stride)[:, None] + np.arange(kernel)[None, :]

def _columns(padded, where):
    N, Cin, _ = padded.shape
    return padded[:, :, where].transpose(0, 2, 1, 3).reshape(N * len(where), Cin * where.shape[1])

def conv1d_forward(x, w, b, stride=1, padding=0):
    padded = np.pad(x, ((0, 0), (0, 0), (padding, padding)), mode="constant")
    Cout, Cin, K = w.shape
    T = (padded.shape[2] - K) // stride + 1
    y = np.empty((len(x), Cout, T), dtype=x.dtype)
    for block, where in _blocks(T, K, stride):
        rows = _columns(padded, where) @ w.reshape(Cout, Cin * K).T + b
        y[:, :, block] = rows.reshape(len(x), len(block), Cout).transpose(0, 2, 1)
    return y, (padded, w, stride, padding)

def conv1d_backward(grad_y, cache):
    padded, w, stride, padding = cache
    N, Cin, width = padded.shape
    Cout, _, K = w.shape
    grad_w, grad_b = np.zeros((Cout, Cin * K), w.dtype), np.zeros(Cout, w.dtype)
    grad_padded = np.zeros((N, Cin, width), dtype=grad_y.dtype)
    for block, where in _blocks(grad_y.shape[2], K, stride):
        flat = grad_y[:, :, block].transpose(0, 2, 1).reshape(N * len(block), Cout)
        grad_w += flat.T @ _columns(padded, where)
        grad_b += flat.sum(axis=0)
        per_window = (flat @ w.reshape(Cout, Cin * K)).reshape(N, len(block), Cin, K)
        for t in range(len(block)):
            grad_padded[:, :, where[t]] += per_window[:, t]
    return grad_padded[:, :, padding : width - padding], grad_w.reshape(w.shape), grad_b

def train_step(w, b, x, target, lr, stride=1, padding=0):
    y, cache = conv1d_forward(x, w, b, stride, padding)
    error = y - target
    loss = float(np.vdot(error, error)) / error.size
    error *= 2.0 / error.size
    _, grad_w, grad_b = conv1d_backward(error, cache)
    return w - lr * grad_w, b - lr * grad_b, loss

# %% layer-with-columns
# part: 1
"""A layer class on im2col: one matrix product each way, and the columns are kept for backward."""

import numpy as np

class Conv1D:
    def __init__(self, W, b, stride, pad):
        self.parameters = {"W": W, "b": b}
        self.gradients = {"W": np.zeros_like(W), "b": np.zeros_like(b)}
        self.stride, self.pad = stride, pad

    def _indices(self, length):
        taps = self.parameters["W"].shape[2]
        out = (length - taps) // self.stride + 1
        return self.stride * np.arange(out)[:, None] + np.arange(taps)[None, :]

    def forward(self, X):
        W, b = self.parameters["W"], self.parameters["b"]
        X_pad = np.pad(X, [(0, 0), (0, 0), (self.pad, self.pad)])
        ix = self._indices(X_pad.shape[2])
        # (N, C, out, taps) -> (N * out, C * taps)
        X_col = X_pad[:, :, ix].transpose(0, 2, 1, 3).reshape(-1, W[0].size)
        Z = X_col @ W.reshape(W.shape[0], -1).T + b
        self.derived = {"X_col": X_col, "shape": X_pad.shape, "length": X.shape[2]}
        return Z.reshape(X.shape[0], len(ix), -1).transpose(0, 2, 1)

    def backward(self, dLdy):
        W, (N, C, L) = self.parameters["W"], self.derived["shape"]
        ix = self._indices(L)
        dZ = dLdy.transpose(0, 2, 1).reshape(-1, W.shape[0])
        self.gradients["W"] = (dZ.T @ self.derived["X_col"]).reshape(W.shape)
        self.gradients["b"] = dZ.sum(axis=0)
        dX_col = (dZ @ W.reshape(W.shape[0], -1)).reshape(N, len(ix), C, -1)
        dX = np.zeros((N, C, L), W.dtype)
        np.add.at(dX, (slice(None), slice(None), ix), dX_col.transpose(0, 2, 1, 3))
        return dX[:, :, self.pad : self.pad + self.derived["length"]]

def conv1d_forward(x, w, b, stride=1, padding=0):
    layer = Conv1D(w, b, stride, padding)
    return layer.forward(x), layer

def conv1d_backward(grad_y, cache):
    grad_x = cache.backward(grad_y)
    return grad_x, cache.gradients["W"], cache.gradients["b"]

def train_step(w, b, x, target, lr, stride=1, padding=0):
    layer = Conv1D(w, b, stride, padding)
    error = layer.forward(x) - target
    layer.backward(2 * error / error.size)
    new = {name: layer.parameters[name] - lr * layer.gradients[name] for name in ("W", "b")}
    return new["W"], new["b"], np.mean(error**2)

# %% loops-of-a-course
# part: 1
"""Naive loops over samples, filters and steps, as in a course's assignment; x is kept padded."""

import numpy as np

def conv1d_forward(x, w, b, stride=1, padding=0):
    N, C, W = x.shape
    F, _, WW = w.shape
    out_w = 1 + (W + 2 * padding - WW) // stride
    out = np.zeros((N, F, out_w))
    x_pad = np.pad(x, ((0, 0), (0, 0), (padding, padding)), mode="constant")
    for n in range(N):
        for f in range(F):
            for j in range(out_w):
                piece = x_pad[n, :, j * stride : j * stride + WW]
                out[n, f, j] = np.sum(piece * w[f]) + b[f]
    cache = (x, w, b, stride, padding)
    return out, cache

def conv1d_backward(dout, cache):
    x, w, b, stride, padding = cache
    N, C, W = x.shape
    F, _, WW = w.shape
    x_pad = np.pad(x, ((0, 0), (0, 0), (padding, padding)), mode="constant")
    dx_pad, dw, db = np.zeros_like(x_pad), np.zeros_like(w), np.zeros_like(b)
    for n in range(N):
        for f in range(F):
            db[f] += np.sum(dout[n, f])
            for j in range(dout.shape[2]):
                window = np.s_[n, :, j * stride : j * stride + WW]
                dw[f] += x_pad[window] * dout[n, f, j]
                dx_pad[window] += w[f] * dout[n, f, j]
    return dx_pad[:, :, padding : padding + W], dw, db

def mse_loss(y, target):
    diff = y - target
    return np.mean(diff**2), 2 * diff / diff.size

def train_step(w, b, x, target, lr, stride=1, padding=0):
    y, cache = conv1d_forward(x, w, b, stride, padding)
    loss, dy = mse_loss(y, target)
    _, dw, db = conv1d_backward(dy, cache)
    w = w - lr * dw
    b = b - lr * db
    return w, b, loss

# %% tap-by-tap
"""Style: vectorised over everything but the K taps; returns the loss as a numpy scalar."""

import numpy as np

def _slices(kernel, stride, steps):
    return [slice(k, k + stride * (steps - 1) + 1, stride) for k in range(kernel)]

def conv1d_forward(x, w, b, stride=1, padding=0):
    xp = np.pad(x, [(0, 0), (0, 0), (padding, padding)])
    K = w.shape[2]
    T = (xp.shape[2] - K) // stride + 1
    taps = _slices(K, stride, T)
    y = np.zeros((x.shape[0], w.shape[0], T), dtype=x.dtype)
    y += b[None, :, None]
    for k, where in enumerate(taps):
        y += w[:, :, k] @ xp[:, :, where]
    return y, (xp, w, stride, padding)

def conv1d_backward(grad_y, cache):
    xp, w, stride, padding = cache
    taps = _slices(w.shape[2], stride, grad_y.shape[2])
    grad_xp = np.zeros(xp.shape, dtype=xp.dtype)
    grad_w = np.empty(w.shape, dtype=w.dtype)
    for k, where in enumerate(taps):
        grad_w[:, :, k] = np.tensordot(grad_y, xp[:, :, where], axes=((0, 2), (0, 2)))
        grad_xp[:, :, where] += w[:, :, k].T @ grad_y
    grad_x = grad_xp[:, :, padding : xp.shape[2] - padding]
    return grad_x, grad_w, np.einsum("not->o", grad_y)

def train_step(w, b, x, target, lr, stride=1, padding=0):
    y, cache = conv1d_forward(x, w, b, stride, padding)
    residual = y - target
    _, grad_w, grad_b = conv1d_backward(residual * (2 / residual.size), cache)
    return w - lr * grad_w, b - lr * grad_b, np.mean(residual * residual)

# %% transposed-convolution
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
