"""Wrong: columns are walked first, and a gradient is assigned."""
# named: assign-overlap

import numpy as np


def maxpool2d_forward(x, kernel, stride, padding=0):
    n, c, h, w = x.shape
    ho = (h + 2 * padding - kernel) // stride + 1
    wo = (w + 2 * padding - kernel) // stride + 1
    y = np.empty((n, c, ho, wo), dtype=x.dtype)
    winners = np.empty((n, c, ho, wo), dtype=np.min_scalar_type(kernel * kernel - 1))
    for b in range(n):
        for ch in range(c):
            for i in range(ho):
                for j in range(wo):
                    best, where = None, (0, 0)
                    for r in range(
                        max(i * stride - padding, 0), min(i * stride - padding + kernel, h)
                    ):
                        for q in range(
                            max(j * stride - padding, 0), min(j * stride - padding + kernel, w)
                        ):
                            value = x[b, ch, r, q]
                            if best is None or value > best:
                                best, where = value, (r, q)
                    y[b, ch, i, j] = best
                    r, q = where
                    winners[b, ch, i, j] = (r - i * stride + padding) * kernel + (
                        q - j * stride + padding
                    )
    return y, {"winners": winners, "shape": x.shape, "window": (kernel, stride, padding)}


def maxpool2d_backward(grad_y, ctx):
    n, c, h, w = ctx["shape"]
    kernel, stride, padding = ctx["window"]
    grad_x = np.zeros((n, c, h, w), dtype=grad_y.dtype)
    _, _, ho, wo = grad_y.shape
    for b in range(n):
        for ch in range(c):
            for j in range(wo):
                for i in range(ho):
                    r, q = divmod(int(ctx["winners"][b, ch, i, j]), kernel)
                    r, q = r + i * stride - padding, q + j * stride - padding
                    grad_x[b, ch, r, q] = grad_y[b, ch, i, j]
    return grad_x
