"""The blocks of the stack, given and right."""

import numpy as np


class Context:
    """What the backward of one forward call needs: three arrays of the size of x."""

    def __init__(self, centered, active, mask):
        """Take the arrays over, (N, d) each."""
        self.centered = centered
        self.active = active
        self.mask = mask


class Block:
    """y = x + mask * tanh((x - mean of the rows of x) @ w), with a running mean.

    Attributes:
        w: (d, d), the weights.
        drop: share of the entries that dropout drops, 0 <= drop < 1.
        grad_w: (d, d), to which every backward call adds.
        mean: (d,), the running mean of the rows of x.
        steps: how many times the running mean has moved.
    """

    def __init__(self, w, drop=0.0):
        """Begin with a gradient, a running mean and a count of 0."""
        self.w = w
        self.drop = drop
        self.grad_w = np.zeros_like(w)
        self.mean = np.zeros(w.shape[0])
        self.steps = 0

    def forward(self, x, rng, again=False):
        """Return y and the ctx of this call.

        Args:
            x: (N, d).
            rng: np.random.Generator; a block that drops draws x.size numbers from it, others none.
            again: whether this call repeats an earlier one; then the running mean stays.

        Returns:
            y: (N, d), a new array.
            ctx: a Context.
        """
        mean = x.mean(axis=0)
        if not again:
            self.mean = 0.9 * self.mean + 0.1 * mean
            self.steps += 1
        centered = x - mean
        active = np.tanh(centered @ self.w)
        if self.drop:
            mask = (rng.random(x.shape) >= self.drop) / (1.0 - self.drop)
        else:
            mask = np.ones_like(x)
        return x + mask * active, Context(centered, active, mask)

    def backward(self, grad_y, ctx):
        """Add to grad_w and return grad_x, a new array (N, d).

        Args:
            grad_y: (N, d).
            ctx: what the forward call returned whose backward this is.
        """
        inner = grad_y * ctx.mask * (1.0 - ctx.active**2)
        self.grad_w += ctx.centered.T @ inner
        through = inner @ self.w.T
        return grad_y + through - through.mean(axis=0)
