"""Weighted deviations from the mean of a row."""

import numpy as np


def centre(x, w):
    d = x - x.mean(axis=-1, keepdims=True)
    return w * d, (d, np.array(w))


def centre_backward(grad_y, ctx):
    d, w = ctx
    return w * grad_y, grad_y * d


def spread(x):
    return float(((x - x.mean(axis=-1, keepdims=True)) ** 2).mean())
