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
