import numpy as np


def layernorm_forward(x, gamma, beta, eps):
    centred = x - x.mean(axis=0, keepdims=True)
    std = np.sqrt((centred * centred).mean(axis=0, keepdims=True) + eps)
    xhat = centred / std
    return gamma * xhat + beta, (xhat, std, gamma)


def layernorm_backward(grad_y, ctx):
    xhat, std, gamma = ctx
    g = grad_y * gamma
    grad_x = (g - g.mean(0, keepdims=True) - xhat * (g * xhat).mean(0, keepdims=True)) / std
    return grad_x, (grad_y * xhat).sum(0), grad_y.sum(0)
