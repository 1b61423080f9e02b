"""Running sums: a window is the difference of four of them, and backward writes four corners."""

import numpy as np


class Windows:
    """Where windows begin and end along one axis, in the plane, and how many cells count."""

    def __init__(self, length, kernel, stride, padding, counted, rounded_up):
        room = length + 2 * padding - kernel
        number = 1 + (-(-room // stride) if rounded_up else room // stride)
        begin = np.arange(number) * stride - padding
        begin = begin[begin < length]
        self.begin = np.clip(begin, 0, length)
        self.end = np.clip(begin + kernel, 0, length)
        end = np.minimum(begin + kernel, length + padding)
        self.count = end - begin if counted else self.end - self.begin


def avgpool2d_forward(x, kernel, stride, padding, count_include_pad, ceil_mode=False):
    axes = [
        Windows(length, kernel, stride, padding, count_include_pad, ceil_mode)
        for length in x.shape[2:]
    ]
    down, across = axes
    table = np.zeros((*x.shape[:2], x.shape[2] + 1, x.shape[3] + 1))
    table[:, :, 1:, 1:] = x.cumsum(axis=2, dtype=np.float64).cumsum(axis=3)
    tall = table[:, :, down.end] - table[:, :, down.begin]
    total = tall[..., across.end] - tall[..., across.begin]
    y = total / np.outer(down.count, across.count)
    return y.astype(x.dtype), (axes, x.shape, x.dtype)


def avgpool2d_backward(grad_y, ctx):
    (down, across), shape, dtype = ctx
    share = grad_y / np.outer(down.count, across.count)
    # One axis after the other: + where a window begins, - where it ends, and a running sum.
    rows = np.zeros((shape[2] + 1, *shape[:2], len(across.begin)))
    np.add.at(rows, down.begin, share.transpose(2, 0, 1, 3))
    np.subtract.at(rows, down.end, share.transpose(2, 0, 1, 3))
    rows = rows.cumsum(axis=0)[:-1]
    cells = np.zeros((shape[3] + 1, *rows.shape[:3]))
    np.add.at(cells, across.begin, rows.transpose(3, 0, 1, 2))
    np.subtract.at(cells, across.end, rows.transpose(3, 0, 1, 2))
    return cells.cumsum(axis=0)[:-1].transpose(2, 3, 1, 0).astype(dtype)
