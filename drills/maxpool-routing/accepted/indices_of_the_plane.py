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
