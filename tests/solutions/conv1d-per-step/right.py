# %% add_at
"""Style: gather with an index array, scatter with np.add.at, which honours repeated positions.

A hundred output steps at a time.
"""

import numpy as np


def _blocks(steps, kernel, stride):
    for first in range(0, steps, 100):
        block = slice(first, min(first + 100, steps))
        yield block, stride * np.arange(block.start, block.stop)[:, None] + np.arange(kernel)


def conv1d_forward(x, w, b, stride=1, padding=0):
    padded = np.pad(x, ((0, 0), (0, 0), (padding, padding)))
    K = w.shape[2]
    T = (padded.shape[2] - K) // stride + 1
    y = np.empty((len(x), len(w), T), x.dtype)
    for block, index in _blocks(T, K, stride):
        y[:, :, block] = np.einsum("nctk,ock->not", padded[:, :, index], w)
    y += b[None, :, None]
    return y, (padded, w, stride, padding)


def conv1d_backward(grad_y, cache):
    padded, w, stride, padding = cache
    grad_w = np.zeros(w.shape, dtype=w.dtype)
    grad_padded = np.zeros(padded.shape, dtype=grad_y.dtype)
    for block, index in _blocks(grad_y.shape[2], w.shape[2], stride):
        g = grad_y[:, :, block]
        grad_w += np.einsum("not,nctk->ock", g, padded[:, :, index])
        np.add.at(grad_padded, (slice(None), slice(None), index), np.einsum("not,ock->nctk", g, w))
    inner = grad_padded[:, :, padding : padded.shape[2] - padding]
    return inner, grad_w, grad_y.sum(axis=0).sum(axis=1)


def train_step(w, b, x, target, lr, stride=1, padding=0):
    y, cache = conv1d_forward(x, w, b, stride=stride, padding=padding)
    residual = y - target
    _, grad_w, grad_b = conv1d_backward(residual * 2.0 / residual.size, cache)
    return w - lr * grad_w, b - lr * grad_b, float((residual**2).mean())


# %% banded_matrix
"""Style: the layer as a dense banded matrix; grad_x by its transpose.

The matrix is that of 32 output steps; every 32 steps have the same one.
"""

import numpy as np

STEPS = 32


def _matrix(w, steps, stride):
    Cout, Cin, K = w.shape
    matrix = np.zeros((Cout, steps, Cin, stride * (steps - 1) + K), dtype=w.dtype)
    for t in range(steps):
        matrix[:, t, :, t * stride : t * stride + K] = w
    return matrix


def _blocks(w, steps, stride):
    """Yield the steps of a block, the padded inputs that they see, and its matrix."""
    for first in range(0, steps, STEPS):
        count = min(STEPS, steps - first)
        matrix = _matrix(w, count, stride)
        seen = slice(first * stride, first * stride + matrix.shape[3])
        yield slice(first, first + count), seen, matrix


def conv1d_forward(x, w, b, stride=1, padding=0):
    padded = np.pad(x, ((0, 0), (0, 0), (padding, padding)))
    N, Cin, P = padded.shape
    y = np.empty((N, len(w), (P - w.shape[2]) // stride + 1), dtype=x.dtype)
    for steps, seen, matrix in _blocks(w, y.shape[2], stride):
        Cout, T, _, span = matrix.shape
        rows = matrix.reshape(Cout * T, Cin * span)
        product = padded[:, :, seen].reshape(N, Cin * span) @ rows.T
        y[:, :, steps] = product.reshape(N, Cout, T) + b[:, None]
    return y, (padded, w, stride, padding)


def conv1d_backward(grad_y, cache):
    padded, w, stride, padding = cache
    N, Cin, P = padded.shape
    grad_padded, grad_w = np.zeros(padded.shape, padded.dtype), np.zeros(w.shape, w.dtype)
    for steps, seen, matrix in _blocks(w, grad_y.shape[2], stride):
        Cout, T, _, span = matrix.shape
        flat = grad_y[:, :, steps].reshape(N, Cout * T)
        rows = matrix.reshape(Cout * T, Cin * span)
        grad_padded[:, :, seen] += (flat @ rows).reshape(N, Cin, span)
        # One entry for each pair of output and input; the band holds those of the filter.
        grad_matrix = flat.T @ padded[:, :, seen].reshape(N, Cin * span)
        grad_matrix = grad_matrix.reshape(matrix.shape)
        for t in range(T):
            grad_w += grad_matrix[:, t, :, t * stride : t * stride + w.shape[2]]
    return grad_padded[:, :, padding : P - padding], grad_w, grad_y.sum(axis=(0, 2))


def train_step(w, b, x, target, lr, stride=1, padding=0):
    y, cache = conv1d_forward(x, w, b, stride, padding)
    residual = y - target
    _, grad_w, grad_b = conv1d_backward(2.0 * residual / residual.size, cache)
    return w - lr * grad_w, b - lr * grad_b, float(np.mean(residual**2))


# %% chatty
"""Style: prints a lot, and runs a demonstration when it is executed as a script."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

print("loading the convolution")


def conv1d_forward(x, w, b, stride=1, padding=0):
    print("forward", x.shape, w.shape, b.shape, "stride", stride, "padding", padding)
    padded = np.pad(x, ((0, 0), (0, 0), (padding, padding)))
    windows = sliding_window_view(padded, w.shape[2], axis=2)[:, :, ::stride]
    y = np.einsum("nctk,ock->not", windows, w) + b[:, None]
    print("y", y)
    return y, {"padded": padded, "windows": windows, "w": w, "stride": stride, "padding": padding}


def conv1d_backward(grad_y, cache):
    print("backward", grad_y.shape, sorted(cache))
    padded, w, stride = cache["padded"], cache["w"], cache["stride"]
    grad_w = np.einsum("not,nctk->ock", grad_y, cache["windows"])
    grad_b = grad_y.sum(axis=(0, 2))
    grad_padded = np.zeros_like(padded)
    for t in range(grad_y.shape[2]):
        piece = np.einsum("no,ock->nck", grad_y[:, :, t], w)
        grad_padded[:, :, t * stride : t * stride + w.shape[2]] += piece
        print("step", t, "adds", float(np.abs(piece).sum()))
    keep = slice(cache["padding"], padded.shape[2] - cache["padding"])
    print("grad_w", grad_w, "grad_b", grad_b, sep="\n")
    return grad_padded[:, :, keep], grad_w, grad_b


def train_step(w, b, x, target, lr, stride=1, padding=0):
    y, cache = conv1d_forward(x, w, b, stride, padding)
    residual = y - target
    loss = float(np.mean(residual**2))
    print("loss", loss)
    _, grad_w, grad_b = conv1d_backward(2.0 * residual / residual.size, cache)
    return w - lr * grad_w, b - lr * grad_b, loss


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    weights, bias = rng.normal(size=(1, 1, 3)), np.zeros(1)
    signal = rng.normal(size=(4, 1, 16))
    for _ in range(10):
        weights, bias, loss = train_step(weights, bias, signal, signal[:, :, 1:-1], 0.1)
    raise SystemExit(f"the loss ended at {loss}")


# %% dataclass_cache
"""Style: a frozen dataclass as the cache, with copies of all it needs; lists as results."""

import typing
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Saved:
    x: np.ndarray
    w: np.ndarray
    stride: typing.SupportsIndex
    padding: typing.SupportsIndex

    def padded(self):
        return np.pad(self.x, ((0, 0), (0, 0), (self.padding, self.padding)))


def conv1d_forward(x, w, b, stride=1, padding=0):
    saved = Saved(x.copy(), w.copy(), int(stride), int(padding))
    padded = saved.padded()
    kernel = w.shape[2]
    starts = range(0, padded.shape[2] - kernel + 1, stride)
    y = np.empty((len(x), len(w), len(starts)), dtype=x.dtype)
    for t, s in enumerate(starts):
        y[:, :, t] = np.tensordot(padded[:, :, s : s + kernel], w, ((1, 2), (1, 2)))
    return [y + b[None, :, None], saved]


def conv1d_backward(grad_y, cache):
    padded = cache.padded()
    kernel = cache.w.shape[2]
    starts = range(0, padded.shape[2] - kernel + 1, cache.stride)
    grad_padded = np.zeros(padded.shape, dtype=padded.dtype)
    grad_w = np.zeros_like(cache.w)
    for t, s in enumerate(starts):
        grad_w += np.tensordot(grad_y[:, :, t], padded[:, :, s : s + kernel], (0, 0))
        grad_padded[:, :, s : s + kernel] += np.tensordot(grad_y[:, :, t], cache.w, (1, 0))
    end = padded.shape[2] - cache.padding
    return [grad_padded[:, :, cache.padding : end], grad_w, grad_y.sum(axis=2).sum(axis=0)]


def train_step(w, b, x, target, lr, stride=1, padding=0):
    y, saved = conv1d_forward(x, w, b, stride, padding)
    gap = y - target
    _, grad_w, grad_b = conv1d_backward(gap * (2.0 / gap.size), saved)
    return [w - lr * grad_w, b - lr * grad_b, float(np.mean(gap**2))]


# %% in_place_on_copies
"""Style: in-place arithmetic everywhere, on copies of its own; the loss comes back in the dtype."""

import numpy as np


def conv1d_forward(x, w, b, stride=1, padding=0):
    padded = np.zeros((x.shape[0], x.shape[1], x.shape[2] + 2 * padding), dtype=x.dtype)
    padded[:, :, padding : padding + x.shape[2]] += x
    kernel = w.shape[2]
    steps = 1 + (padded.shape[2] - kernel) // stride
    y = np.zeros((x.shape[0], w.shape[0], steps), dtype=x.dtype)
    for t in range(steps):
        for k in range(kernel):
            y[:, :, t] += padded[:, :, t * stride + k] @ w[:, :, k].T
    y += b.reshape(1, -1, 1)
    return y, (padded, w.copy(), stride, padding)


def conv1d_backward(grad_y, cache):
    padded, w, stride, padding = cache
    g = np.array(grad_y)
    grad_padded = np.zeros_like(padded)
    grad_w = np.zeros_like(w)
    for t in range(g.shape[2]):
        for k in range(w.shape[2]):
            grad_w[:, :, k] += g[:, :, t].T @ padded[:, :, t * stride + k]
            grad_padded[:, :, t * stride + k] += g[:, :, t] @ w[:, :, k]
    grad_b = np.zeros(w.shape[0], dtype=w.dtype)
    for row in g:
        grad_b += row.sum(axis=1)
    end = padded.shape[2] - padding
    return grad_padded[:, :, padding:end].copy(), grad_w, grad_b


def train_step(w, b, x, target, lr, stride=1, padding=0):
    residual, cache = conv1d_forward(x, w, b, stride, padding)
    residual -= target
    loss = np.square(residual).mean()
    residual *= 2.0
    residual /= residual.size
    _, grad_w, grad_b = conv1d_backward(residual, cache)
    w_new, b_new = w.copy(), b.copy()
    grad_w *= lr
    grad_b *= lr
    w_new -= grad_w
    b_new -= grad_b
    return w_new, b_new, loss


# %% memoised_geometry
"""Style: remembers index arrays, keyed by all they depend on: state that does no harm."""

from functools import lru_cache

import numpy as np


@lru_cache(maxsize=64)
def _starts(width, kernel, stride):
    steps = (width - kernel) // stride + 1
    starts = stride * np.arange(steps)
    starts.setflags(write=False)
    return starts


def conv1d_forward(x, w, b, stride=1, padding=0):
    xp = np.pad(x, ((0, 0), (0, 0), (padding, padding)))
    starts = _starts(xp.shape[2], w.shape[2], stride)
    y = sum(np.einsum("nct,oc->not", xp[:, :, starts + k], w[:, :, k]) for k in range(w.shape[2]))
    return y + b[:, None], (xp, w, stride, padding)


def conv1d_backward(grad_y, cache):
    xp, w, stride, padding = cache
    starts = _starts(xp.shape[2], w.shape[2], stride)
    gxp, gw = np.zeros_like(xp), np.empty_like(w)
    for k in range(w.shape[2]):
        gxp[:, :, starts + k] += np.einsum("not,oc->nct", grad_y, w[:, :, k])
        gw[:, :, k] = np.einsum("not,nct->oc", grad_y, xp[:, :, starts + k], optimize=True)
    return gxp[:, :, padding : xp.shape[2] - padding], gw, grad_y.sum(axis=(0, 2))


def train_step(w, b, x, target, lr, stride=1, padding=0):
    y, cache = conv1d_forward(x, w, b, stride, padding)
    residual = y - target
    _, grad_w, grad_b = conv1d_backward(2.0 * residual / residual.size, cache)
    return w - lr * grad_w, b - lr * grad_b, float(np.mean(residual**2))


# %% np_correlate
"""numpy's own correlation, one pair of channels at a time, at stride 1; the stride picks from it."""

import numpy as np


def conv1d_forward(x, w, b, stride=1, padding=0):
    p = np.pad(x, [(0, 0), (0, 0), (padding, padding)])
    steps = (p.shape[2] - w.shape[2]) // stride + 1
    y = np.zeros((len(x), len(w), steps), x.dtype)
    for n, o in np.ndindex(len(x), len(w)):
        for c in range(x.shape[1]):
            y[n, o] += np.correlate(p[n, c], w[o, c], "valid")[::stride]
        y[n, o] += b[o]
    return y, (x.shape, p, w, stride, padding)


def conv1d_backward(grad_y, cache):
    shape, p, w, stride, padding = cache
    kernel, reach = w.shape[2], stride * (grad_y.shape[2] - 1) + 1
    spread = np.zeros(
        (*grad_y.shape[:2], reach), grad_y.dtype
    )  # stride - 1 zeros between the steps
    spread[:, :, ::stride] = grad_y
    grad_p, grad_w = np.zeros(p.shape, p.dtype), np.zeros(w.shape, w.dtype)
    for n, o in np.ndindex(*grad_y.shape[:2]):
        for c in range(p.shape[1]):
            grad_w[o, c] += np.correlate(p[n, c, : reach + kernel - 1], spread[n, o], "valid")
            grad_p[n, c, : reach + kernel - 1] += np.convolve(spread[n, o], w[o, c], "full")
    grad_x = grad_p[:, :, padding : padding + shape[2]].copy()
    return grad_x, grad_w, np.einsum("not->o", grad_y)


def train_step(w, b, x, target, lr, stride=1, padding=0):
    y, cache = conv1d_forward(x, w, b, stride, padding)
    error = y - target
    _, grad_w, grad_b = conv1d_backward(error * (2 / error.size), cache)
    return w - lr * grad_w, b - lr * grad_b, np.square(error).mean()


# %% one_matrix_product
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


# %% partials
"""Style: functools.partial over one bilinear helper; all three gradients are contractions of it."""

from functools import partial

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view


def _contract(subscripts, left, right):
    return np.einsum(subscripts, left, right)


_outputs = partial(_contract, "nctk,ock->not")
_filters = partial(_contract, "not,nctk->ock")
_piece = partial(_contract, "no,ock->nck")


def _forward(margin_mode, x, w, b, stride=1, padding=0):
    padded = np.pad(x, ((0, 0), (0, 0), (padding, padding)), mode=margin_mode)
    windows = sliding_window_view(padded, w.shape[2], axis=2)[:, :, ::stride]
    return _outputs(windows, w) + b[:, None], [windows, w, stride, padding, padded.shape[2]]


def _backward(reduce_axes, grad_y, cache):
    windows, w, stride, padding, width = cache
    grad = np.zeros((*windows.shape[:2], width), dtype=windows.dtype)
    for t in range(grad_y.shape[2]):
        grad[:, :, t * stride : t * stride + w.shape[2]] += _piece(grad_y[:, :, t], w)
    return grad[:, :, padding : width - padding], _filters(grad_y, windows), grad_y.sum(reduce_axes)


def _step(forward, backward, w, b, x, target, lr, stride=1, padding=0):
    y, cache = forward(x, w, b, stride, padding)
    residual = y - target
    _, grad_w, grad_b = backward(residual * (2.0 / residual.size), cache)
    return w - lr * grad_w, b - lr * grad_b, float(np.mean(residual**2))


conv1d_forward = partial(_forward, "constant")
conv1d_backward = partial(_backward, (0, 2))
train_step = partial(_step, conv1d_forward, conv1d_backward)


# %% plain_loops
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


# %% python_lists
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


# %% repaired_starter
"""Style: the starter with the smallest repair, a loop over the steps that adds up."""

import numpy as np


def conv1d_forward(x, w, b, stride=1, padding=0):
    batch, _, length = x.shape
    out_channels, _, kernel = w.shape
    steps = (length + 2 * padding - kernel) // stride + 1
    padded = np.pad(x, ((0, 0), (0, 0), (padding, padding)))
    y = np.empty((batch, out_channels, steps), dtype=x.dtype)
    for t in range(steps):
        window = padded[:, :, t * stride : t * stride + kernel]
        y[:, :, t] = np.einsum("nck,ock->no", window, w) + b
    return y, (padded, w, length, stride, padding)


def conv1d_backward(grad_y, cache):
    padded, w, length, stride, padding = cache
    kernel = w.shape[2]
    grad_padded = np.zeros_like(padded)
    grad_w = np.zeros_like(w)
    grad_b = np.zeros(len(w), dtype=w.dtype)
    for t in range(grad_y.shape[2]):
        start = t * stride
        window = padded[:, :, start : start + kernel]
        grad_t = grad_y[:, :, t]
        grad_w += np.einsum("no,nck->ock", grad_t, window)
        grad_b += grad_t.sum(axis=0)
        grad_padded[:, :, start : start + kernel] += np.einsum("no,ock->nck", grad_t, w)
    return grad_padded[:, :, padding : padding + length], grad_w, grad_b


def train_step(w, b, x, target, lr, stride=1, padding=0):
    y, cache = conv1d_forward(x, w, b, stride, padding)
    residual = y - target
    loss = float(np.mean(residual**2))
    grad_y = 2.0 * residual / residual.size
    _, grad_w, grad_b = conv1d_backward(grad_y, cache)
    return w - lr * grad_w, b - lr * grad_b, loss


# %% same_weights_at_rest
"""Style: train_step hands back the arrays that it was given where the learning rate is 0."""

import numpy as np


def conv1d_forward(x, w, b, stride=1, padding=0):
    batch, _, length = x.shape
    out_channels, _, kernel = w.shape
    steps = (length + 2 * padding - kernel) // stride + 1
    padded = np.pad(x, ((0, 0), (0, 0), (padding, padding)))
    y = np.empty((batch, out_channels, steps), dtype=x.dtype)
    for t in range(steps):
        window = padded[:, :, t * stride : t * stride + kernel]
        y[:, :, t] = np.einsum("nck,ock->no", window, w) + b
    return y, (padded, w, length, stride, padding)


def conv1d_backward(grad_y, cache):
    padded, w, length, stride, padding = cache
    kernel = w.shape[2]
    grad_padded = np.zeros_like(padded)
    grad_w = np.zeros_like(w)
    grad_b = np.zeros(len(w), dtype=w.dtype)
    for t in range(grad_y.shape[2]):
        start = t * stride
        window = padded[:, :, start : start + kernel]
        grad_t = grad_y[:, :, t]
        grad_w += np.einsum("no,nck->ock", grad_t, window)
        grad_b += grad_t.sum(axis=0)
        grad_padded[:, :, start : start + kernel] += np.einsum("no,ock->nck", grad_t, w)
    return grad_padded[:, :, padding : padding + length], grad_w, grad_b


def train_step(w, b, x, target, lr, stride=1, padding=0):
    y, cache = conv1d_forward(x, w, b, stride, padding)
    residual = y - target
    loss = float(np.mean(residual**2))
    grad_y = 2.0 * residual / residual.size
    _, grad_w, grad_b = conv1d_backward(grad_y, cache)
    if lr == 0.0:
        return w, b, loss
    return w - lr * grad_w, b - lr * grad_b, loss


# %% sample_by_sample_generator
"""A generator of (sample, step, window) is walked forward once and backward once."""

import numpy as np


def _uses(p, kernel, stride):
    for n in range(len(p)):
        for t in range((p.shape[2] - kernel) // stride + 1):
            yield n, t, p[n, :, t * stride : t * stride + kernel]


def conv1d_forward(x, w, b, stride=1, padding=0):
    p = np.concatenate(
        [np.zeros((*x.shape[:2], padding), x.dtype), x, np.zeros((*x.shape[:2], padding), x.dtype)],
        2,
    )
    y = np.empty((len(x), len(w), (p.shape[2] - w.shape[2]) // stride + 1), x.dtype)
    for n, t, window in _uses(p, w.shape[2], stride):
        y[n, :, t] = np.tensordot(w, window, axes=2) + b
    return y, lambda grad_y: _backward(grad_y, p, w, b, stride, padding)


def _backward(grad_y, p, w, b, stride, padding):
    grad_p, grad_w, grad_b = (
        np.zeros(p.shape, p.dtype),
        np.zeros(w.shape, w.dtype),
        np.zeros_like(b),
    )
    places = _uses(grad_p, w.shape[2], stride)
    for (n, t, window), (_, _, into) in zip(_uses(p, w.shape[2], stride), places, strict=True):
        g = grad_y[n, :, t]
        grad_w += np.multiply.outer(g, window)
        grad_b += g
        into += np.tensordot(g, w, axes=1)
    return grad_p[:, :, padding : p.shape[2] - padding].copy(), grad_w, grad_b


def conv1d_backward(grad_y, cache):
    return cache(grad_y)


def train_step(w, b, x, target, lr, stride=1, padding=0):
    y, back = conv1d_forward(x, w, b, stride, padding)
    _, grad_w, grad_b = back(2 / y.size * (y - target))
    return w - lr * grad_w, b - lr * grad_b, float(np.mean((y - target) ** 2))


# %% step_by_step_sums
"""Style: every step has gradients of its own, in full, which are added up; also in train_step."""

import numpy as np


def _window(padded, t, kernel, stride):
    return padded[:, :, t * stride : t * stride + kernel]


def conv1d_forward(x, w, b, stride=1, padding=0):
    padded = np.pad(x, ((0, 0), (0, 0), (padding, padding)))
    kernel = w.shape[2]
    steps = (padded.shape[2] - kernel) // stride + 1
    y = np.empty((len(x), len(w), steps), dtype=x.dtype)
    for t in range(steps):
        y[:, :, t] = np.einsum("nck,ock->no", _window(padded, t, kernel, stride), w) + b
    return y, (padded, w, stride, padding)


def _of_one_step(t, g, padded, w, stride):
    only_this = np.zeros(padded.shape, dtype=padded.dtype)
    _window(only_this, t, w.shape[2], stride)[...] = np.einsum("no,ock->nck", g, w)
    for_w = np.einsum("no,nck->ock", g, _window(padded, t, w.shape[2], stride))
    return only_this, for_w, np.einsum("no->o", g)


def conv1d_backward(grad_y, cache):
    padded, w, stride, padding = cache
    steps = (_of_one_step(t, grad_y[:, :, t], padded, w, stride) for t in range(grad_y.shape[2]))
    grad_padded, grad_w, grad_b = next(steps)
    for for_x, for_w, for_b in steps:
        grad_padded, grad_w, grad_b = grad_padded + for_x, grad_w + for_w, grad_b + for_b
    return grad_padded[:, :, padding : padded.shape[2] - padding], grad_w, grad_b


def train_step(w, b, x, target, lr, stride=1, padding=0):
    y, cache = conv1d_forward(x, w, b, stride, padding)
    losses, w_new, b_new = [], w.copy(), b.copy()
    for t in range(y.shape[2]):
        residual = np.zeros_like(y)
        residual[:, :, t] = y[:, :, t] - target[:, :, t]
        losses.append(float(np.sum(residual**2)))
        # The gradients of all steps are taken at the old weights, so the order does not matter.
        _, grad_w, grad_b = conv1d_backward(2.0 * residual / y.size, cache)
        w_new -= lr * grad_w
        b_new -= lr * grad_b
    return w_new, b_new, sum(losses) / y.size
