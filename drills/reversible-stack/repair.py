"""Backpropagation through reversible blocks, which keeps no activations."""

import branch
import numpy as np


# why 3: Sums of multiples of a power of two are exact, so what is added can be taken off again to
#        the last bit. The streams begin on the grid, and what is added to them is on it too.
def rounded(v, grid):
    """v on the grid, if there is one."""
    return v if grid is None else np.round(v / grid) * grid


def forward(x1, x2, a, b, grid=None):
    """Both streams after the last block."""
    x1, x2 = rounded(x1, grid), rounded(x2, grid)
    for i in range(len(a)):
        out, _ = branch.run(x2, a[i, 0], b[i, 0])
        # why 3: What F adds is rounded by itself.
        x1 = x1 + rounded(out, grid)
        out, _ = branch.run(x1, a[i, 1], b[i, 1])
        # why 3: So is what G adds.
        x2 = x2 + rounded(out, grid)
    return x1, x2


# why 3: What is taken off has to be what was added, so it needs the grid.
def undone(y1, y2, a, b, grid=None):
    """Yield both streams before each block, the last block first."""
    for i in reversed(range(len(a))):
        out, _ = branch.run(y1, a[i, 1], b[i, 1])
        # why 3: Rounded as in forward.
        y2 = y2 - rounded(out, grid)
        out, _ = branch.run(y2, a[i, 0], b[i, 0])
        # why 3: Rounded as in forward.
        y1 = y1 - rounded(out, grid)
        yield y1, y2


# why 3: The grid is that of forward.
def reconstruct(y1, y2, a, b, grid=None):
    """Both streams before the first block."""
    # why 3: It is handed on.
    for x1, x2 in undone(y1, y2, a, b, grid):
        y1, y2 = x1, x2
    return y1, y2


def gradients(grad, v, a, b):
    """The gradients of v and of the weights of a branch."""
    _, hidden = branch.run(v, a, b)
    return branch.back(grad, v, hidden, a, b)


# why 3: The slopes of the branches are those at rounded inputs. That of rounding itself counts as
#        1, so no gradient is rounded.
def backward(grad_y1, grad_y2, y1, y2, a, b, grid=None):
    """The gradients of x1, x2, a and b."""
    # why 3: The grid is handed on here, too.
    before = undone(y1, y2, a, b, grid)
    grad_a, grad_b = np.zeros_like(a), np.zeros_like(b)
    # why 2: A list of all streams grows with the depth. Taken one by one, each is let go when the
    #        next block has been undone.
    for i, (x1, x2) in zip(reversed(range(len(a))), before):
        through_g, *grads_g = gradients(grad_y2, y1, a[i, 1], b[i, 1])
        grad_a[i, 1], grad_b[i, 1] = grads_g
        # why: y1 is an output of the block and the input of G, so its gradient is the sum of
        #      both; F adds to y1, and needs that sum.
        grad_y1 = grad_y1 + through_g
        through_f, *grads_f = gradients(grad_y1, x2, a[i, 0], b[i, 0])
        grad_a[i, 0], grad_b[i, 0] = grads_f
        # why: The sum is there already.
        grad_y2, y1 = grad_y2 + through_f, x1
    return grad_y1, grad_y2, grad_a, grad_b
