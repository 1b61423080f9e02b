# %% callable-instances
"""Two instances of a class with __call__ take the place of the functions."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

class _Forward:
    def __call__(self, x, kernel, stride, padding=0):
        n, c, h, w = x.shape
        frame = np.full((n, c, h + 2 * padding, w + 2 * padding), -np.inf, x.dtype)
        frame[:, :, padding : padding + h, padding : padding + w] = x
        view = sliding_window_view(frame, (kernel, kernel), axis=(2, 3))[:, :, ::stride, ::stride]
        flat = view.reshape(*view.shape[:4], -1) if n else np.zeros((*view.shape[:4], 1), x.dtype)
        local = flat.argmax(axis=-1)
        local = local.astype(np.min_scalar_type(kernel * kernel - 1))
        return flat.max(axis=-1), _State(local, (kernel, stride, padding), x.shape, x.dtype)

class _State:
    __slots__ = ("dtype", "local", "shape", "window")

    def __init__(self, local, window, shape, dtype):
        self.local, self.window, self.shape, self.dtype = local, window, shape, dtype

    def places(self):
        kernel, stride, padding = self.window
        rows = self.local // kernel + stride * np.arange(self.local.shape[2])[:, None] - padding
        columns = self.local % kernel + stride * np.arange(self.local.shape[3]) - padding
        # In a window of minus infinity the first cell may be padding: the nearest entry is real.
        return np.maximum(rows, 0) * self.shape[3] + np.maximum(columns, 0)

class _Backward:
    def __call__(self, grad_y, ctx):
        n, c, h, w = ctx.shape
        grad_x = np.zeros((n, c, h * w), ctx.dtype)
        places = ctx.places()
        for b in range(n):
            for ch in range(c):
                np.add.at(grad_x[b, ch], places[b, ch].ravel(), grad_y[b, ch].ravel())
        return grad_x.reshape(n, c, h, w)

maxpool2d_forward = _Forward()
maxpool2d_backward = _Backward()

# %% closure-ctx
"""The ctx is a function that closes over the winners; backward only calls it."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

def maxpool2d_forward(x, kernel, stride, padding=0):
    shape, dtype = x.shape, x.dtype
    n, c, h, w = shape
    frame = np.pad(
        x, [(0, 0), (0, 0), (padding, padding), (padding, padding)], constant_values=-np.inf
    )
    names = np.full(frame.shape[2:], -1, np.int64)
    names[padding : padding + h, padding : padding + w] = np.arange(h * w).reshape(h, w)

    def cut(array):
        view = sliding_window_view(array, (kernel, kernel), axis=(-2, -1))
        view = view[..., ::stride, ::stride, :, :]
        return view.reshape(*view.shape[:-2], kernel * kernel)

    values, named = cut(frame), cut(names)
    local = values.argmax(axis=-1)
    winners = np.take_along_axis(np.broadcast_to(named, values.shape), local[..., None], -1)[..., 0]
    local = np.where(winners < 0, (named >= 0).argmax(axis=-1), local)
    local = local.astype(np.min_scalar_type(kernel * kernel - 1))

    def route(grad_y):
        row = stride * np.arange(grad_y.shape[2])[:, None] - padding + local // kernel
        column = stride * np.arange(grad_y.shape[3]) - padding + local % kernel
        grad_x = np.zeros((n, c, h, w), dtype)
        b, ch = np.ogrid[:n, :c]
        b, ch = b[..., None, None], ch[..., None, None]
        np.add.at(grad_x, (b, ch, row, column), grad_y)
        return grad_x

    return values.max(axis=-1), route

def maxpool2d_backward(grad_y, ctx):
    return ctx(grad_y)

# %% columns-and-argmax
# part: 1
"""A layer on top of im2col and col2im: windows as rows of a matrix, and an argmax per row."""

import numpy as np

def im2col(img, size, stride):
    N, C, H, W = img.shape
    out_h, out_w = (H - size) // stride + 1, (W - size) // stride + 1
    col = np.zeros((N, C, size, size, out_h, out_w))
    for y in range(size):
        for x in range(size):
            y_max, x_max = y + stride * out_h, x + stride * out_w
            col[:, :, y, x, :, :] = img[:, :, y:y_max:stride, x:x_max:stride]
    return col.transpose(0, 4, 5, 1, 2, 3).reshape(N * out_h * out_w * C, size * size)

def col2im(col, shape, size, stride):
    N, C, H, W = shape
    out_h, out_w = (H - size) // stride + 1, (W - size) // stride + 1
    col = col.reshape(N, out_h, out_w, C, size, size).transpose(0, 3, 4, 5, 1, 2)
    img = np.zeros((N, C, H + stride - 1, W + stride - 1))
    for y in range(size):
        for x in range(size):
            y_max, x_max = y + stride * out_h, x + stride * out_w
            img[:, :, y:y_max:stride, x:x_max:stride] += col[:, :, y, x, :, :]
    return img[:, :, :H, :W]

class Pooling:
    def __init__(self, size, stride, pad):
        self.size, self.stride, self.pad = size, stride, pad

    def forward(self, x):
        p = self.pad
        img = np.pad(x, [(0, 0), (0, 0), (p, p), (p, p)], constant_values=-np.inf)
        self.shape = img.shape
        col = im2col(img, self.size, self.stride)
        self.arg_max = np.argmax(col, axis=1)
        N, C, H, W = img.shape
        out_h, out_w = (H - self.size) // self.stride + 1, (W - self.size) // self.stride + 1
        return np.max(col, axis=1).reshape(N, out_h, out_w, C).transpose(0, 3, 1, 2)

    def backward(self, dout):
        dout = dout.transpose(0, 2, 3, 1)
        dmax = np.zeros((dout.size, self.size * self.size))
        dmax[np.arange(self.arg_max.size), self.arg_max.flatten()] = dout.flatten()
        dimg = col2im(dmax, self.shape, self.size, self.stride)
        _, _, H, W = self.shape
        return dimg[:, :, self.pad : H - self.pad, self.pad : W - self.pad]

def maxpool2d_forward(x, kernel, stride, padding=0):
    layer = Pooling(kernel, stride, padding)
    return layer.forward(x), layer

def maxpool2d_backward(grad_y, ctx):
    return ctx.backward(grad_y)

# %% einsum-one-hot
"""A one-hot mask rebuilt from the index in backward, contracted with einsum window by window."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

def maxpool2d_forward(x, kernel, stride, padding=0):
    n, c, h, w = x.shape
    frame = np.full((n, c, h + 2 * padding, w + 2 * padding), -np.inf, x.dtype)
    frame[:, :, padding : padding + h, padding : padding + w] = x
    real = np.zeros(frame.shape[2:], bool)
    real[padding : padding + h, padding : padding + w] = True
    view = sliding_window_view(frame, (kernel, kernel), axis=(2, 3))[:, :, ::stride, ::stride]
    allowed = sliding_window_view(real, (kernel, kernel))[::stride, ::stride]
    y = view.max(axis=(4, 5))
    hit = (view == y[..., None, None]) & allowed
    local = hit.reshape(*y.shape, kernel * kernel).argmax(axis=-1)
    local = local.astype("u1" if kernel <= 16 else "u2" if kernel <= 256 else "u4")
    return y, [local, kernel, stride, padding, h, w]

def maxpool2d_backward(grad_y, ctx):
    local, kernel, stride, padding, h, w = ctx
    n, c, ho, wo = grad_y.shape
    frame = np.zeros((n, c, h + 2 * padding, w + 2 * padding), grad_y.dtype)
    cells = np.arange(kernel * kernel).reshape(kernel, kernel)
    for i in range(ho):
        for j in range(wo):
            one_hot = (cells == local[:, :, i, j, None, None]).astype(grad_y.dtype)
            part = np.einsum("ncab,nc->ncab", one_hot, grad_y[:, :, i, j])
            frame[:, :, i * stride : i * stride + kernel, j * stride : j * stride + kernel] += part
    return frame[:, :, padding : padding + h, padding : padding + w].copy()

# %% indices-of-the-plane
# part: 1
"""A port of a framework's kernel: a flat index in the plane per output, int64, kept in ctx."""

import numpy as np

def maxpool2d_forward(x, kernel, stride, padding=0):
    batch, channels, height, width = x.shape
    out_height = (height + 2 * padding - kernel) // stride + 1
    out_width = (width + 2 * padding - kernel) // stride + 1
    output = np.empty((batch, channels, out_height, out_width))
    indices = np.empty(output.shape, dtype=np.int64)
    for oh in range(out_height):
        h_start = max(oh * stride - padding, 0)
        h_end = min(oh * stride - padding + kernel, height)
        for ow in range(out_width):
            w_start = max(ow * stride - padding, 0)
            w_end = min(ow * stride - padding + kernel, width)
            region = x[:, :, h_start:h_end, w_start:w_end].reshape(batch, channels, -1)
            best = region.argmax(axis=-1)
            output[:, :, oh, ow] = region.max(axis=-1)
            h_best, w_best = np.divmod(best, w_end - w_start)
            indices[:, :, oh, ow] = (h_start + h_best) * width + w_start + w_best
    return output, {"indices": indices, "input_shape": x.shape}

def maxpool2d_backward(grad_y, ctx):
    indices, (batch, channels, height, width) = ctx["indices"], ctx["input_shape"]
    grad_input = np.zeros((batch, channels, height * width))
    for n in range(batch):
        for c in range(channels):
            np.add.at(grad_input[n, c], indices[n, c].ravel(), grad_y[n, c].ravel())
    return grad_input.reshape(batch, channels, height, width)

# %% loops-and-masks
# part: 1
"""Four loops and a mask per window, as in a first course on convolutional networks; x is kept."""

import numpy as np

def maxpool2d_forward(x, kernel, stride, padding=0):
    N, C, H, W = x.shape
    H_out = (H + 2 * padding - kernel) // stride + 1
    W_out = (W + 2 * padding - kernel) // stride + 1
    pad = ((0, 0), (0, 0), (padding, padding), (padding, padding))
    x_pad = np.pad(x, pad, mode="constant", constant_values=-np.inf)
    out = np.zeros((N, C, H_out, W_out))
    for n in range(N):
        for c in range(C):
            for i in range(H_out):
                for j in range(W_out):
                    top, left = i * stride, j * stride
                    window = x_pad[n, c, top : top + kernel, left : left + kernel]
                    out[n, c, i, j] = np.max(window)
    cache = (x, x_pad, kernel, stride, padding)
    return out, cache

def maxpool2d_backward(dout, cache):
    x, x_pad, kernel, stride, padding = cache
    N, C, H, W = x.shape
    dx_pad = np.zeros_like(x_pad)
    for n in range(N):
        for c in range(C):
            for i in range(dout.shape[2]):
                for j in range(dout.shape[3]):
                    rows = slice(i * stride, i * stride + kernel)
                    columns = slice(j * stride, j * stride + kernel)
                    window = x_pad[n, c, rows, columns]
                    mask = window == np.max(window)
                    dx_pad[n, c, rows, columns] += mask * dout[n, c, i, j]
    return dx_pad[:, :, padding : padding + H, padding : padding + W]

# %% narrowest-index
"""np.divmod takes the place apart, and np.min_scalar_type chooses how many bytes it has."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

def maxpool2d_forward(x, kernel, stride, padding=0):
    n, c, h, w = x.shape
    frame = np.full((n, c, h + 2 * padding, w + 2 * padding), -np.inf, x.dtype)
    frame[:, :, padding : padding + h, padding : padding + w] = x
    view = sliding_window_view(frame, (kernel, kernel), axis=(2, 3))[:, :, ::stride, ::stride]
    flat = view.reshape(*view.shape[:4], kernel * kernel)
    local = flat.argmax(axis=-1)
    narrow = local.astype(np.min_scalar_type(kernel**2 - 1))
    y = np.take_along_axis(flat, local[..., None], axis=-1)[..., 0].copy()
    return y, (narrow, h, w, kernel, stride, padding)

def maxpool2d_backward(grad_y, ctx):
    narrow, h, w, kernel, stride, padding = ctx
    n, c, ho, wo = grad_y.shape
    rows, columns = np.divmod(narrow.astype(np.intp), kernel)
    rows += stride * np.arange(ho)[:, None] - padding
    columns += stride * np.arange(wo) - padding
    index = rows.clip(0) * w + columns.clip(0)
    out = np.zeros((n, c, h * w), grad_y.dtype)
    b, ch = np.indices((n, c))
    where = (b[..., None, None], ch[..., None, None], index)
    np.add.at(out, where, grad_y)
    return out.reshape(n, c, h, w)

# %% running-maximum
"""A running maximum over the cells of the kernel, all windows at once, with a strict comparison."""

import numpy as np

def _cells(kernel, stride, ho, wo):
    for r in range(kernel):
        for q in range(kernel):
            rows = slice(r, r + (ho - 1) * stride + 1, stride)
            yield r * kernel + q, rows, slice(q, q + (wo - 1) * stride + 1, stride)

def maxpool2d_forward(x, kernel, stride, padding=0):
    n, c, h, w = x.shape
    ho = (h + 2 * padding - kernel) // stride + 1
    wo = (w + 2 * padding - kernel) // stride + 1
    frame = np.full((n, c, h + 2 * padding, w + 2 * padding), -np.inf, x.dtype)
    frame[:, :, padding : padding + h, padding : padding + w] = x
    best = np.full((n, c, ho, wo), -np.inf, x.dtype)
    which = np.zeros((n, c, ho, wo), "B" if kernel < 17 else "H" if kernel < 257 else "I")
    for cell, rows, columns in _cells(kernel, stride, ho, wo):
        here = frame[:, :, rows, columns]
        better = here > best
        if better.any():
            best[better] = here[better]
            which[better] = cell
    # Where nothing beat minus infinity, the winner is the first cell that is not padding.
    top = np.maximum(padding - stride * np.arange(ho), 0)[:, None]
    left = np.maximum(padding - stride * np.arange(wo), 0)
    lost = best == -np.inf
    which[lost] = np.broadcast_to(top * kernel + left, which.shape)[lost]
    return best, (which, kernel, stride, padding, x.shape)

def maxpool2d_backward(grad_y, ctx):
    which, kernel, stride, padding, (n, c, h, w) = ctx
    ho, wo = grad_y.shape[2:]
    frame = np.zeros((n, c, h + 2 * padding, w + 2 * padding), grad_y.dtype)
    present = set(np.unique(which).tolist())
    for cell, rows, columns in _cells(kernel, stride, ho, wo):
        if cell in present:
            frame[:, :, rows, columns] += np.where(which == cell, grad_y, 0)
    return np.array(frame[:, :, padding : padding + h, padding : padding + w])

# %% separable
"""Rows first, then columns: the first maximum of the row maxima is the first in row-major order."""

import numpy as np

def _first_max_along(values, axis, size, outputs, kernel, stride, padding):
    best, place = [], []
    for i in range(outputs):
        start = max(i * stride - padding, 0)
        stop = min(i * stride - padding + kernel, size)
        part = values.take(np.arange(start, stop), axis=axis)
        best.append(part.max(axis=axis))
        place.append(part.argmax(axis=axis) + start)
    return np.stack(best, axis=axis), np.stack(place, axis=axis)

def maxpool2d_forward(x, kernel, stride, padding=0):
    n, c, h, w = x.shape
    ho = (h + 2 * padding - kernel) // stride + 1
    wo = (w + 2 * padding - kernel) // stride + 1
    per_row, column = _first_max_along(x, 3, w, wo, kernel, stride, padding)
    y, row = _first_max_along(per_row, 2, h, ho, kernel, stride, padding)
    column = np.take_along_axis(column, row, axis=2)
    row -= (stride * np.arange(ho) - padding)[:, None]
    column -= stride * np.arange(wo) - padding
    local = (row * kernel + column).astype(np.min_scalar_type(kernel * kernel - 1))
    return y, {"local": local, "window": (kernel, stride, padding), "h": h, "w": w}

def maxpool2d_backward(grad_y, ctx):
    n, c, ho, wo = grad_y.shape
    h, w = ctx["h"], ctx["w"]
    kernel, stride, padding = ctx["window"]
    row = ctx["local"] // kernel + (stride * np.arange(ho) - padding)[:, None]
    column = ctx["local"] % kernel + (stride * np.arange(wo) - padding)
    out = np.zeros((n * c, h * w), grad_y.dtype)
    index = (row * w + column).reshape(n * c, ho * wo)
    for plane, (where, gradient) in enumerate(zip(index, grad_y.reshape(index.shape), strict=True)):
        np.add.at(out[plane], where, gradient)
    return out.reshape(n, c, h, w)

# %% stride-tricks-bincount
"""as_strided windows of a padded copy, and np.bincount for the scatter."""

import numpy as np
from numpy.lib.stride_tricks import as_strided

def maxpool2d_forward(x, kernel, stride, padding=0):
    n, c, h, w = x.shape
    pad = ((0, 0), (0, 0), (padding, padding), (padding, padding))
    padded = np.ascontiguousarray(np.pad(x, pad, constant_values=-np.inf))
    inside = np.pad(np.arange(h * w).reshape(h, w), padding, constant_values=-1)
    ho = (h + 2 * padding - kernel) // stride + 1
    wo = (w + 2 * padding - kernel) // stride + 1
    sn, sc, sh, sw = padded.strides
    windows = as_strided(
        padded, (n, c, ho, wo, kernel, kernel), (sn, sc, sh * stride, sw * stride, sh, sw)
    ).reshape(n, c, ho, wo, kernel * kernel)
    ih, iw = inside.strides
    places = as_strided(inside, (ho, wo, kernel, kernel), (ih * stride, iw * stride, ih, iw))
    places = np.broadcast_to(places.reshape(ho, wo, kernel * kernel), windows.shape)
    # Only real entries are candidates, so that minus infinity never loses to the padding.
    y = windows.max(axis=-1)
    candidate = (windows == y[..., None]) & (places >= 0)
    first = candidate.argmax(axis=-1)
    small = np.min_scalar_type(kernel * kernel - 1)
    return y, {"first": first.astype(small), "shape": (n, c, h, w), "at": (kernel, stride, padding)}

def maxpool2d_backward(grad_y, ctx):
    n, c, h, w = ctx["shape"]
    kernel, stride, padding = ctx["at"]
    down, across = np.divmod(ctx["first"], kernel)
    top, left = stride * np.arange(grad_y.shape[2]), stride * np.arange(grad_y.shape[3])
    flat = (top[:, None] + down - padding) * w + left + across - padding
    offset = (np.arange(n * c) * (h * w)).reshape(n, c, 1, 1)
    index = (flat + offset).ravel()
    summed = np.bincount(index, weights=grad_y.ravel(), minlength=n * c * h * w)
    return summed.astype(grad_y.dtype).reshape(n, c, h, w)
