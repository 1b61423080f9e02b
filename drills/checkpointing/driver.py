"""Stacks of blocks, what is inside them afterwards, and how much a pass needs."""

import weakref

import numpy as np
from blocks import Block


def rates(n, drop):
    """Return the dropout of each of n blocks: blocks 1, 4, 7, ... have none, the others `drop`."""
    return [0.0 if i % 3 == 1 else float(drop) for i in range(n)]


def stack(_, weights, drop):
    """Return a list of blocks: weights (n, d, d); drop, the share that most blocks drop."""
    return [Block(w, rate) for w, rate in zip(weights, rates(len(weights), drop), strict=True)]


def whole(_, number):
    """Return a number that may have been drawn as a whole number of Python's."""
    return int(number)


def generator(_, seed):
    """Return a generator that begins at `seed`."""
    return np.random.default_rng(int(seed))


def draw(_, rng):
    """Return the next three numbers of a generator."""
    return rng.random(3)


def inside(_, blocks):
    """Return the gradients (n, d, d), running means (n, d) and counts of steps (n,) of blocks."""
    return (
        np.stack([block.grad_w for block in blocks]),
        np.stack([block.mean for block in blocks]),
        np.array([block.steps for block in blocks]),
    )


class _Counts:
    """Forward calls, and contexts that exist, now and at most."""

    def __init__(self):
        self.calls = self.alive = self.most = 0

    def __deepcopy__(self, memo):
        return self  # a copied block counts with the others

    def made(self, ctx):
        self.calls += 1
        self.alive += 1
        self.most = max(self.most, self.alive)
        weakref.finalize(ctx, self.gone).atexit = False

    def gone(self):
        self.alive -= 1


class _Counted(Block):
    """A block that counts its forward calls and the contexts that they make."""

    def __init__(self, w, drop, counts):
        super().__init__(w, drop)
        self.counts = counts

    def forward(self, x, rng, again=False):
        y, ctx = super().forward(x, rng, again)
        self.counts.made(ctx)
        return y, ctx


def counts(program, weights, drop, x, grad_y, segments, seed):
    """Return how many contexts existed at once, and how many forward calls backward made."""
    counter, segments = _Counts(), int(segments)
    every = zip(weights, rates(len(weights), drop), strict=True)
    blocks = [_Counted(w, rate, counter) for w, rate in every]
    rng = generator(program, seed)
    _, state = program.forward(blocks, x, rng, segments)
    calls = counter.calls
    program.backward(blocks, state, grad_y, rng)
    return counter.most, counter.calls - calls


def within(most, calls, weights, segments):
    """Return two counts, or limits of the contract if they are below: right solutions differ."""
    n, segments = len(weights), int(segments)
    longest = -(-n // segments)
    return max(most, longest + 2), max(calls, n - n // segments)
