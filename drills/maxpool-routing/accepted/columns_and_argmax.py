"""A layer on top of im2col and col2im: windows as rows of a matrix, and an argmax per row."""

import numpy as np


def im2col(img, size, stride):
    N, C, H, W = img.shape
    out_h, out_w = (H - size) // stride + 1, (W - size) // stride + 1
    col = np.zeros((N, C, size, size, out_h, out_w))
    for y in range(size):
        for x in range(size):
            y_max, x_max = y + stride * out_h, x + stride * out_w
            col[:, :, y, x, :, :] = img[:, :, y:y_max:stride, x:x_max:stride]
    return col.transpose(0, 4, 5, 1, 2, 3).reshape(N * out_h * out_w * C, size * size)


def col2im(col, shape, size, stride):
    N, C, H, W = shape
    out_h, out_w = (H - size) // stride + 1, (W - size) // stride + 1
    col = col.reshape(N, out_h, out_w, C, size, size).transpose(0, 3, 4, 5, 1, 2)
    img = np.zeros((N, C, H + stride - 1, W + stride - 1))
    for y in range(size):
        for x in range(size):
            y_max, x_max = y + stride * out_h, x + stride * out_w
            img[:, :, y:y_max:stride, x:x_max:stride] += col[:, :, y, x, :, :]
    return img[:, :, :H, :W]


class Pooling:
    def __init__(self, size, stride, pad):
        self.size, self.stride, self.pad = size, stride, pad

    def forward(self, x):
        p = self.pad
        img = np.pad(x, [(0, 0), (0, 0), (p, p), (p, p)], constant_values=-np.inf)
        self.shape = img.shape
        col = im2col(img, self.size, self.stride)
        self.arg_max = np.argmax(col, axis=1)
        N, C, H, W = img.shape
        out_h, out_w = (H - self.size) // self.stride + 1, (W - self.size) // self.stride + 1
        return np.max(col, axis=1).reshape(N, out_h, out_w, C).transpose(0, 3, 1, 2)

    def backward(self, dout):
        dout = dout.transpose(0, 2, 3, 1)
        dmax = np.zeros((dout.size, self.size * self.size))
        dmax[np.arange(self.arg_max.size), self.arg_max.flatten()] = dout.flatten()
        dimg = col2im(dmax, self.shape, self.size, self.stride)
        _, _, H, W = self.shape
        return dimg[:, :, self.pad : H - self.pad, self.pad : W - self.pad]


def maxpool2d_forward(x, kernel, stride, padding=0):
    layer = Pooling(kernel, stride, padding)
    return layer.forward(x), layer


def maxpool2d_backward(grad_y, ctx):
    return ctx.backward(grad_y)
