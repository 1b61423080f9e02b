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
