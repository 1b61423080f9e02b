"""Wrong: the gradient through the mean is taken off once more."""
# named: mean-term-twice

import numpy as np

WHY = {"no-reference": "b", "not-enough": "c", "rms": "a"}

def layernorm(x, gamma, beta, eps=1e-5):
    mu = np.mean(x, axis=-1, keepdims=True)
    xmu = x - mu
    var = np.mean(xmu**2, axis=-1, keepdims=True)
    sqrtvar = np.sqrt(var + eps)
    ivar = 1 / sqrtvar
    xhat = xmu * ivar
    return gamma * xhat + beta, (xmu, ivar, sqrtvar, gamma)

def layernorm_backward(grad_y, ctx):
    xmu, ivar, sqrtvar, gamma = ctx
    width = xmu.shape[-1]
    over = tuple(range(grad_y.ndim - 1))
    dbeta = np.sum(grad_y, axis=over)
    dgamma = np.sum(grad_y * xmu * ivar, axis=over)
    dxhat = grad_y * gamma
    divar = np.sum(dxhat * xmu, axis=-1, keepdims=True)
    dsqrtvar = -divar / sqrtvar**2
    dvar = 0.5 * dsqrtvar * ivar
    dxmu = dxhat * ivar + 2 * xmu * np.ones_like(xmu) * dvar / width
    dmu = -np.sum(dxmu, axis=-1, keepdims=True)
    dmu -= np.sum(dxhat * ivar, axis=-1, keepdims=True)
    return dxmu + dmu / width, dgamma, dbeta

def rmsnorm(x, gamma, eps=1e-5):
    square = np.mean(x**2, axis=-1, keepdims=True)
    root = np.sqrt(square + eps)
    return x / root * gamma, (x, root, gamma)

def rmsnorm_backward(grad_y, ctx):
    x, root, gamma = ctx
    dgamma = np.sum(grad_y * (x / root), axis=tuple(range(grad_y.ndim - 1)))
    dxhat = grad_y * gamma
    droot = -np.sum(dxhat * x, axis=-1, keepdims=True) / root**2
    dsquare = droot / (2 * root)
    return dxhat / root + 2 * x * dsquare / x.shape[-1], dgamma
