"""A block that is cut over ranks: every list has an entry per rank."""

import numpy as np
from norms import rms_backward


def mlp(x, w1, b1, w2, b2, all_reduce):
    """Two linear layers with a ReLU between them; return y for every rank."""
    # A rank has some of the hidden features, and their share of b1.
    h = [np.maximum(a @ w + b, 0) for a, w, b in zip(x, w1, b1, strict=True)]
    # The rows of w2 are those of its own hidden features.
    y = [h_r @ w + b for h_r, w, b in zip(h, w2, b2, strict=True)]
    # Every rank gets the sum.
    return all_reduce(y)


def mlp_backward(grad_y, x, w1, b1, w2, b2, all_reduce):
    """Return the gradients of x, w1, b1, w2 and b2, a list each."""
    grads = []
    for g, x_r, v1, c1, v2 in zip(grad_y, x, w1, b1, w2, strict=True):
        h = np.maximum(x_r @ v1 + c1, 0)
        # ReLU passes the gradient where it passed the value.
        grad_z = g @ v2.T * (h > 0)
        grad_w1, grad_w2 = x_r.T @ grad_z, h.T @ g
        grads.append((grad_z @ v1.T, grad_w1, grad_z.sum(0), grad_w2, g.sum(0)))
    return tuple(list(part) for part in zip(*grads, strict=True))


def norm_backward(grad_h, x, gain, all_reduce):
    """Return the gradients of x and gain, a list of an array per rank each."""
    grad_x, grad_gain, begin = [], [], 0
    for g, x_r, gain_r in zip(grad_h, x, gain, strict=True):
        # A rank looks at its own rows only.
        rows = slice(begin, begin + len(x_r))
        begin += len(x_r)
        part, whole = rms_backward(g[rows], x_r, gain_r)
        grad_x.append(part)
        grad_gain.append(whole)
    return grad_x, grad_gain
