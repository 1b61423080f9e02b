"""Prints a lot to stdout and stderr, and has a demonstration under a __main__ guard."""

import sys

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

print("loading", "." * 500)


def maxpool2d_forward(x, kernel, stride, padding=0):
    print("forward", x.shape, x.dtype, kernel, stride, padding, flush=True)
    print("x starts with", x.ravel()[:5], file=sys.stderr)
    frame = np.pad(
        x, ((0, 0), (0, 0), (padding, padding), (padding, padding)), constant_values=-np.inf
    )
    view = sliding_window_view(frame, (kernel, kernel), axis=(2, 3))[:, :, ::stride, ::stride]
    flat = view.reshape(*view.shape[:4], kernel * kernel)
    local = flat.argmax(axis=-1)
    print("winners", local.size, "\n" * 20)
    index = local.astype(np.min_scalar_type(kernel * kernel - 1))
    window = {"kernel": kernel, "stride": stride, "padding": padding}
    return flat.max(axis=-1), {"index": index, "shape": x.shape, "dtype": x.dtype, **window}


def maxpool2d_backward(grad_y, ctx):
    n, c, h, w = ctx["shape"]
    out = np.zeros((n * c, h * w), ctx["dtype"])
    kernel, stride, padding = ctx["kernel"], ctx["stride"], ctx["padding"]
    rows = ctx["index"] // kernel + stride * np.arange(grad_y.shape[2])[:, None]
    columns = ctx["index"] % kernel + stride * np.arange(grad_y.shape[3])
    index = (np.maximum(rows, padding) - padding) * w + np.maximum(columns, padding) - padding
    index = index.reshape(n * c, grad_y.shape[2] * grad_y.shape[3])
    planes = np.arange(n * c)[:, None]
    np.add.at(out, (planes, index), grad_y.reshape(index.shape))
    for line in range(50):
        print("backward", line, repr(ctx)[:200])
    return out.reshape(n, c, h, w)


if __name__ == "__main__":
    demo = np.random.default_rng(0).normal(size=(1, 1, 4, 4))
    result, state = maxpool2d_forward(demo, 2, 2)
    print(result, maxpool2d_backward(np.ones_like(result), state))
    raise SystemExit("demonstration over")
