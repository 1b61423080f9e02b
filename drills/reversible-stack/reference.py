"""A reversible stack: no activation is kept, because each block can be undone.

A block makes of its two streams y1 = x1 + F(x2) and y2 = x2 + G(y1). From y1 and y2 follow first
x2 = y2 - G(y1), then x1 = y1 - F(x2). So backward needs the outputs of the last block alone, undoes
one block at a time, and has its gradients before it goes to the block before.

Undone in floating point, a block gives back its inputs but for rounding. On a grid it gives them
back to the last bit: sums and differences of multiples of a power of two are exact while they are
below 2^24 (float32) or 2^53 (float64) steps of the grid.

Values have no unit. Sources: Gomez, Ren, Urtasun and Grosse, "The Reversible Residual Network:
Backpropagation Without Storing Activations", 2017; for the grid, MacKay, Vicol, Ba and Grosse,
"Reversible Recurrent Neural Networks", 2018.
"""

import branch
import numpy as np


def forward(x1, x2, a, b, grid=None):
    """Return the two streams after the last block.

    Args:
        x1: (N, D), float32 or float64, as all arrays are.
        x2: (N, D).
        a: (n, 2, D, H), the first weights of F and of G of each of n blocks.
        b: (n, 2, H, D), their second weights.
        grid: a power of two, of which all values become multiples; or None.

    Returns:
        y1, y2: (N, D).
    """
    x1, x2 = _rounded(x1, grid), _rounded(x2, grid)
    for weights in zip(a, b, strict=True):
        x1, x2 = _block(x1, x2, *weights, grid)
    return x1, x2


def reconstruct(y1, y2, a, b, grid=None):
    """Return the x1 and x2 that forward begins with, from what it returned; (N, D) each."""
    for i in _backwards(len(a)):
        y1, y2, *_ = _undone(y1, y2, a[i], b[i], grid)
    return y1, y2


def backward(grad_y1, grad_y2, y1, y2, a, b, grid=None):
    """Return the gradients of the sum of grad_y1 * y1 and grad_y2 * y2.

    Args:
        grad_y1: (N, D).
        grad_y2: (N, D).
        y1: (N, D), as y2 what forward returned for a, b and grid.
        y2: (N, D).
        a: as in `forward`.
        b: as in `forward`.
        grid: as in `forward`; rounding counts as the identity.

    Returns:
        grad_x1, grad_x2, grad_a, grad_b: in the shapes of x1, x2, a and b.
    """
    grads = grad_y1, grad_y2
    grad_a, grad_b = np.empty_like(a), np.empty_like(b)
    for i in _backwards(len(a)):
        x1, x2, hidden = _undone(y1, y2, a[i], b[i], grid)
        *grads, grad_a[i], grad_b[i] = _grads(*grads, (x1, x2), (y1, y2), hidden, a[i], b[i])
        y1, y2 = x1, x2
    return *grads, grad_a, grad_b


def _backwards(n):
    """Return the blocks in the order in which they are undone."""
    return range(n - 1, -1, -1)


def _rounded(v, grid):
    """Return v, on a grid if there is one."""
    return v if grid is None else np.round(v / grid) * grid


def _branch(v, a, b, grid):
    """Return what a branch adds, and its hidden values."""
    out, hidden = branch.run(v, a, b)
    return _rounded(out, grid), hidden


def _block(x1, x2, a, b, grid):
    """Return the streams after a block."""
    f, g = zip(a, b, strict=True)
    y1 = x1 + _branch(x2, *f, grid)[0]
    return y1, x2 + _branch(y1, *g, grid)[0]


def _undone(y1, y2, a, b, grid):
    """Return the streams before a block, and the hidden values of F and of G."""
    f, g = zip(a, b, strict=True)
    out, hidden_g = _branch(y1, *g, grid)
    x2 = y2 - out
    out, hidden_f = _branch(x2, *f, grid)
    return y1 - out, x2, (hidden_f, hidden_g)


def _grads(grad_y1, grad_y2, x, y, hidden, a, b):
    """Return the gradients before a block, and those of its weights.

    y1 is an output of the block and the input of G, so it has two gradients; F has their sum.
    """
    f, g = zip(hidden, a, b, strict=True)
    through_g, *of_g = branch.back(grad_y2, y[0], *g)
    grad_y1 = grad_y1 + through_g
    through_f, *of_f = branch.back(grad_y1, x[1], *f)
    return grad_y1, grad_y2 + through_f, *(np.stack(pair) for pair in zip(of_f, of_g, strict=True))
