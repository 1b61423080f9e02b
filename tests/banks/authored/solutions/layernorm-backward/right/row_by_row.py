"""Loops over the rows, with the Jacobian of one row written out."""

import math

import numpy as np


def layernorm_forward(x, gamma, beta, eps):
    y = np.empty_like(x)
    rows = []
    for n, row in enumerate(x.astype(np.float64)):
        mean = math.fsum(row) / row.size
        std = math.sqrt(math.fsum((v - mean) ** 2 for v in row) / row.size + eps)
        xhat = (row - mean) / std
        y[n] = xhat * gamma + beta
        rows.append((xhat, std))
    return y, (rows, gamma.copy())


def layernorm_backward(grad_y, ctx):
    rows, gamma = ctx
    n, d = grad_y.shape
    grad_x = np.zeros((n, d))
    grad_gamma, grad_beta = np.zeros(d), np.zeros(d)
    for i, (xhat, std) in enumerate(rows):
        jacobian = (np.eye(d) - 1 / d - np.outer(xhat, xhat) / d) / std
        grad_x[i] = jacobian @ (grad_y[i] * gamma)
        grad_gamma += grad_y[i] * xhat
        grad_beta += grad_y[i]
    return tuple(a.astype(grad_y.dtype) for a in (grad_x, grad_gamma, grad_beta))
