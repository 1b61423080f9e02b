"""An average over a window is a product with a matrix of zeros and ones on either side."""

import numpy as np


class Pool:
    """One axis: which cells of the plane are in which window, and how many count."""

    def __init__(self, length, kernel, stride, padding, count_include_pad, ceil_mode, dtype):
        room = length + 2 * padding - kernel
        steps = room // stride if not ceil_mode else (room + stride - 1) // stride
        while steps * stride >= length + padding:
            steps -= 1
        start = np.arange(steps + 1)[:, None] * stride
        cell = np.arange(length + 2 * padding)
        inside = (start <= cell) & (cell < start + kernel)
        member = inside[:, padding : padding + length]
        self.member = member.astype(dtype)
        self.count = (inside if count_include_pad else member).sum(axis=1).astype(dtype)


def avgpool2d_forward(x, kernel, stride, padding, count_include_pad, ceil_mode=False):
    rows, columns = (
        Pool(length, kernel, stride, padding, count_include_pad, ceil_mode, x.dtype)
        for length in x.shape[2:]
    )
    total = np.einsum("ih,nchw,jw->ncij", rows.member, x, columns.member)
    return total / (rows.count[:, None] * columns.count), (rows, columns)


def avgpool2d_backward(grad_y, ctx):
    rows, columns = ctx
    share = grad_y / (rows.count[:, None] * columns.count)
    return np.einsum("ih,ncij,jw->nchw", rows.member, share, columns.member)
