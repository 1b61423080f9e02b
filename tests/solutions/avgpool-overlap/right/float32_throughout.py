"""No float64 for float32 maps: divisors are of the dtype of x, and sums are made row by row."""

import numpy as np


class Ctx:
    __slots__ = ("across", "divisor", "down", "kernel", "padding", "shape", "stride")


def _count(length, kernel, stride, padding, counted, up):
    room = length + 2 * padding - kernel
    number = room // stride + 1
    if up and room % stride and number * stride < length + padding:
        number += 1
    starts = range(-padding, -padding + number * stride, stride)
    if counted:
        return [min(a + kernel, length + padding) - a for a in starts]
    return [min(a + kernel, length) - max(a, 0) for a in starts]


def avgpool2d_forward(x, kernel, stride, padding, count_include_pad, ceil_mode=False):
    n, c, h, w = x.shape
    tall = np.array(_count(h, kernel, stride, padding, count_include_pad, ceil_mode), x.dtype)
    broad = np.array(_count(w, kernel, stride, padding, count_include_pad, ceil_mode), x.dtype)
    ctx = Ctx()
    ctx.shape, ctx.kernel, ctx.stride, ctx.padding = x.shape, kernel, stride, padding
    ctx.down, ctx.across, ctx.divisor = len(tall), len(broad), tall[:, None] * broad
    frame = np.zeros((n, c, h + 2 * padding + kernel, w + 2 * padding + kernel), x.dtype)
    frame[:, :, padding : padding + h, padding : padding + w] = x
    rows = np.zeros((n, c, ctx.down, frame.shape[3]), x.dtype)
    for k in range(kernel):
        rows += frame[:, :, k : k + stride * (ctx.down - 1) + 1 : stride]
    y = np.zeros((n, c, ctx.down, ctx.across), x.dtype)
    for k in range(kernel):
        y += rows[..., k : k + stride * (ctx.across - 1) + 1 : stride]
    y /= ctx.divisor
    return y, ctx


def avgpool2d_backward(grad_y, ctx):
    n, c, h, w = ctx.shape
    k, s, p = ctx.kernel, ctx.stride, ctx.padding
    share = np.divide(grad_y, ctx.divisor)
    rows = np.zeros((n, c, ctx.down, w + 2 * p + k), share.dtype)
    for a in range(k):
        rows[..., a : a + s * (ctx.across - 1) + 1 : s] += share
    frame = np.zeros((n, c, h + 2 * p + k, w + 2 * p + k), share.dtype)
    for a in range(k):
        frame[:, :, a : a + s * (ctx.down - 1) + 1 : s] += rows
    return np.ascontiguousarray(frame[:, :, p : p + h, p : p + w]).copy()
