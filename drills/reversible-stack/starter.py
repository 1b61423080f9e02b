"""Backpropagation through reversible blocks, which keeps no activations."""

import branch
import numpy as np


def forward(x1, x2, a, b):
    """Both streams after the last block."""
    for i in range(len(a)):
        out, _ = branch.run(x2, a[i, 0], b[i, 0])
        x1 = x1 + out
        out, _ = branch.run(x1, a[i, 1], b[i, 1])
        x2 = x2 + out
    return x1, x2


def undone(y1, y2, a, b):
    """Yield both streams before each block, the last block first."""
    for i in reversed(range(len(a))):
        out, _ = branch.run(y1, a[i, 1], b[i, 1])
        y2 = y2 - out
        out, _ = branch.run(y2, a[i, 0], b[i, 0])
        y1 = y1 - out
        yield y1, y2


def reconstruct(y1, y2, a, b):
    """Both streams before the first block."""
    for x1, x2 in undone(y1, y2, a, b):
        y1, y2 = x1, x2
    return y1, y2


def gradients(grad, v, a, b):
    """The gradients of v and of the weights of a branch."""
    _, hidden = branch.run(v, a, b)
    return branch.back(grad, v, hidden, a, b)


def backward(grad_y1, grad_y2, y1, y2, a, b):
    """The gradients of x1, x2, a and b."""
    before = undone(y1, y2, a, b)
    grad_a, grad_b = np.zeros_like(a), np.zeros_like(b)
    for i, (x1, x2) in zip(reversed(range(len(a))), list(before)):
        through_g, *grads_g = gradients(grad_y2, y1, a[i, 1], b[i, 1])
        grad_a[i, 1], grad_b[i, 1] = grads_g
        through_f, *grads_f = gradients(grad_y1, x2, a[i, 0], b[i, 0])
        grad_a[i, 0], grad_b[i, 0] = grads_f
        grad_y1, grad_y2, y1 = grad_y1 + through_g, grad_y2 + through_f, x1
    return grad_y1, grad_y2, grad_a, grad_b
