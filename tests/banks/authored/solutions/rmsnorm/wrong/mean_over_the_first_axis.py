import numpy as np


def rmsnorm_forward(x, gain, eps):
    rms = np.sqrt(np.mean(x * x, axis=0, keepdims=True) + eps)
    return gain * (x / rms), (x, rms, gain)


def rmsnorm_backward(grad_y, ctx):
    x, rms, gain = ctx
    g = grad_y * gain
    grad_x = g / rms - x * np.mean(g * x, axis=-1, keepdims=True) / rms**3
    return grad_x, (grad_y * x / rms).reshape(-1, len(gain)).sum(axis=0)
