import numpy as np


def rmsnorm_forward(x, gain, eps):
    rows = x.astype(np.float64).reshape(-1, x.shape[-1])
    inverse = [1.0 / np.sqrt(row @ row / row.size + eps) for row in rows]
    y = [gain * row * r for row, r in zip(rows, inverse)]
    return np.array(y, x.dtype).reshape(x.shape), (rows, inverse, gain)


def rmsnorm_backward(grad_y, ctx):
    rows, inverse, gain = ctx
    grad_x, grad_gain = [], np.zeros(len(gain))
    for g, row, r in zip(grad_y.reshape(rows.shape), rows, inverse):
        jacobian = r * np.eye(row.size) - r**3 / row.size * np.outer(row, row)
        grad_x.append(jacobian.T @ (gain * g))
        grad_gain += g * row * r
    return np.array(grad_x, grad_y.dtype).reshape(grad_y.shape), grad_gain.astype(grad_y.dtype)
