"""Nested Python lists inside, arrays only at the doors; the ctx holds an array.array."""

from array import array

import numpy as np


def maxpool2d_forward(x, kernel, stride, padding=0):
    n, c, h, w = x.shape
    ho = (h + 2 * padding - kernel) // stride + 1
    wo = (w + 2 * padding - kernel) // stride + 1
    values, places = [], []
    for image in x.tolist():
        for plane in image:
            for i in range(ho):
                rows = range(max(0, i * stride - padding), min(h, i * stride - padding + kernel))
                for j in range(wo):
                    left = max(0, j * stride - padding)
                    right = min(w, j * stride - padding + kernel)
                    top, start = i * stride - padding, j * stride - padding
                    pairs = [
                        (plane[r][q], (r - top) * kernel + q - start)
                        for r in rows
                        for q in range(left, right)
                    ]
                    value, place = max(pairs, key=lambda pair: (pair[0], -pair[1]))
                    values.append(value)
                    places.append(place)
    y = np.array(values, dtype=x.dtype).reshape(n, c, ho, wo)
    kind = "B" if kernel <= 16 else "H" if kernel <= 256 else "L"
    return y, {
        "places": array(kind, places),
        "shape": (n, c, h, w),
        "at": (kernel, stride, padding),
    }


def maxpool2d_backward(grad_y, ctx):
    n, c, h, w = ctx["shape"]
    kernel, stride, padding = ctx["at"]
    across = grad_y.shape[3]
    outputs = grad_y.shape[2] * across
    flat = [0.0] * (n * c * h * w)
    for k, (gradient, place) in enumerate(zip(grad_y.ravel().tolist(), ctx["places"], strict=True)):
        plane, output = divmod(k, outputs)
        row = output // across * stride - padding + place // kernel
        column = output % across * stride - padding + place % kernel
        flat[(plane * h + row) * w + column] += gradient
    return np.array(flat, dtype=grad_y.dtype).reshape(n, c, h, w)
