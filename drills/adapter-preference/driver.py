"""New adapters and their gradients; and from them what one changes, and whether it can learn."""

import numpy as np


def begin(program, weight, rank, seed, batch):
    """Return adapters of a seed, of the same again and of another; and gradients of the first."""
    adapters = [_fresh(program, weight, rank, seed + n) for n in (0, 0, 1)]
    # Training is in float64; a new adapter is made for weights in float32, too.
    weight = weight.astype(np.float64)
    _, *grads = program.preference_loss(*batch, weight, *adapters[0], 2.0, 0.5)
    return adapters, grads


def begun(adapters, grads):
    """Return what a new adapter adds, the rank it learns in, and whether it is drawn from rng."""
    first, again, other = adapters
    a, b = first
    learns = max(int(np.linalg.matrix_rank(grad)) for grad in grads)
    return np.asarray(b) @ np.asarray(a), learns, _same(first, again), not _same(first, other)


def sizes(program, weight, rank, seed):
    """Return zeros in the shapes and dtypes of a new adapter."""
    return tuple(np.zeros_like(one) for one in _fresh(program, weight, rank, seed))


def _fresh(program, weight, rank, seed):
    return program.fresh(weight, rank, np.random.default_rng(int(seed)))


def _same(one, other):
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))
