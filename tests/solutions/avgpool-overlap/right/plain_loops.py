"""Loops over Python numbers, cell by cell."""

import numpy as np


def number_of_windows(length, kernel, stride, padding, ceil_mode):
    number = 0
    start = -padding
    while start + kernel <= length + padding or (
        ceil_mode and start < length and start - stride + kernel < length + padding
    ):
        number += 1
        start += stride
    while (number - 1) * stride - padding >= length:
        number -= 1
    return number


def windows(ctx):
    """Yield (i, j), the cells of the plane in that window, and the divisor."""
    _, _, height, width = ctx["shape"]
    kernel, stride, padding = ctx["kernel"], ctx["stride"], ctx["padding"]
    for i in range(ctx["down"]):
        for j in range(ctx["across"]):
            cells, padded = [], 0
            for r in range(i * stride - padding, i * stride - padding + kernel):
                for c in range(j * stride - padding, j * stride - padding + kernel):
                    if 0 <= r < height and 0 <= c < width:
                        cells.append((r, c))
                    if r < height + padding and c < width + padding:
                        padded += 1
            yield i, j, cells, padded if ctx["counted"] else len(cells)


def avgpool2d_forward(x, kernel, stride, padding, count_include_pad, ceil_mode=False):
    n, channels, height, width = x.shape
    ctx = {
        "shape": x.shape,
        "dtype": x.dtype,
        "kernel": kernel,
        "stride": stride,
        "padding": padding,
        "counted": count_include_pad,
        "down": number_of_windows(height, kernel, stride, padding, ceil_mode),
        "across": number_of_windows(width, kernel, stride, padding, ceil_mode),
    }
    y = np.zeros((n, channels, ctx["down"], ctx["across"]), x.dtype)
    for sample in range(n):
        for channel in range(channels):
            plane = x[sample, channel].tolist()
            for i, j, cells, divisor in windows(ctx):
                y[sample, channel, i, j] = sum(plane[r][c] for r, c in cells) / divisor
    return y, ctx


def avgpool2d_backward(grad_y, ctx):
    n, channels, height, width = ctx["shape"]
    grad_x = np.zeros(ctx["shape"], ctx["dtype"])
    for sample in range(n):
        for channel in range(channels):
            total = [[0.0] * width for _ in range(height)]
            above = grad_y[sample, channel].tolist()
            for i, j, cells, divisor in windows(ctx):
                for r, c in cells:
                    total[r][c] += above[i][j] / divisor
            grad_x[sample, channel] = total
    return grad_x
