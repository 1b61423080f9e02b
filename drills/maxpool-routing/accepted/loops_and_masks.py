"""Four loops and a mask per window, as in a first course on convolutional networks; x is kept."""

import numpy as np


def maxpool2d_forward(x, kernel, stride, padding=0):
    N, C, H, W = x.shape
    H_out = (H + 2 * padding - kernel) // stride + 1
    W_out = (W + 2 * padding - kernel) // stride + 1
    pad = ((0, 0), (0, 0), (padding, padding), (padding, padding))
    x_pad = np.pad(x, pad, mode="constant", constant_values=-np.inf)
    out = np.zeros((N, C, H_out, W_out))
    for n in range(N):
        for c in range(C):
            for i in range(H_out):
                for j in range(W_out):
                    top, left = i * stride, j * stride
                    window = x_pad[n, c, top : top + kernel, left : left + kernel]
                    out[n, c, i, j] = np.max(window)
    cache = (x, x_pad, kernel, stride, padding)
    return out, cache


def maxpool2d_backward(dout, cache):
    x, x_pad, kernel, stride, padding = cache
    N, C, H, W = x.shape
    dx_pad = np.zeros_like(x_pad)
    for n in range(N):
        for c in range(C):
            for i in range(dout.shape[2]):
                for j in range(dout.shape[3]):
                    rows = slice(i * stride, i * stride + kernel)
                    columns = slice(j * stride, j * stride + kernel)
                    window = x_pad[n, c, rows, columns]
                    mask = window == np.max(window)
                    dx_pad[n, c, rows, columns] += mask * dout[n, c, i, j]
    return dx_pad[:, :, padding : padding + H, padding : padding + W]
