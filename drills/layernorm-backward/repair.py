"""LayerNorm of our training runtime, forward and backward."""

import numpy as np

# why 2: Adding a number to a row changes nothing in y, so rows of grad_x sum to 0; so they do
#        where the deviation counts as a constant. RMSNorm does not change when a row is stretched.
WHY = {"no-reference": "b", "not-enough": "c", "rms": "a"}


def layernorm(x, gamma, beta, eps=1e-5):
    """Normalize the last axis of x (..., D); return y and a ctx."""
    mean = x.mean(axis=-1, keepdims=True)
    # why 3: A difference of two large means loses the digits of a row far from 0. What is kept is
    #        xhat: out of y it cannot be had where gamma is 0.
    xhat = x - mean
    var = (xhat * xhat).mean(axis=-1, keepdims=True)
    rstd = 1 / np.sqrt(var + eps)
    xhat *= rstd
    return xhat * gamma + beta, (xhat, rstd, gamma)


def layernorm_backward(grad_y, ctx):
    """Return (grad_x, grad_gamma, grad_beta) for grad_y (..., D)."""
    # why 3: xhat is there already.
    xhat, rstd, gamma = ctx
    rows = tuple(range(grad_y.ndim - 1))
    grad_gamma = (grad_y * xhat).sum(axis=rows)
    grad_beta = grad_y.sum(axis=rows)
    # why: x is in the mean and in the deviation of its row as well, and each path gives a term.
    g = grad_y * gamma
    along = (g * xhat).mean(axis=-1, keepdims=True)
    grad_x = rstd * (g - g.mean(axis=-1, keepdims=True) - xhat * along)
    return grad_x, grad_gamma, grad_beta


# why 2: RMSNorm subtracts no mean, so the term through it is missing in the gradient, too.
def rmsnorm(x, gamma, eps=1e-5):
    """Divide the last axis of x by its root mean square; return y and a ctx."""
    rrms = 1 / np.sqrt((x * x).mean(axis=-1, keepdims=True) + eps)
    return x * rrms * gamma, (x * rrms, rrms, gamma)


def rmsnorm_backward(grad_y, ctx):
    """Return (grad_x, grad_gamma) for grad_y (..., D)."""
    xhat, rrms, gamma = ctx
    g = grad_y * gamma
    grad_x = rrms * (g - xhat * (g * xhat).mean(axis=-1, keepdims=True))
    return grad_x, (grad_y * xhat).sum(axis=tuple(range(grad_y.ndim - 1)))
