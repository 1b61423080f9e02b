"""A new adapter: what it changes, and whether it can learn."""

import numpy as np


def begin(program, weight, rank, seed, batch):
    """Return what a new adapter adds, the rank it learns in, and whether it is drawn from rng."""
    a, b = _fresh(program, weight, rank, seed)
    # Training is in float64; a new adapter is made for weights in float32, too.
    _, *grads = program.preference_loss(*batch, weight.astype(np.float64), a, b, 2.0, 0.5)
    learns = max(int(np.linalg.matrix_rank(grad)) for grad in grads)
    again, other = (_fresh(program, weight, rank, seed + n) for n in (0, 1))
    return np.asarray(b) @ np.asarray(a), learns, _same((a, b), again), not _same((a, b), other)


def sizes(program, weight, rank, seed):
    """Return zeros in the shapes and dtypes of a new adapter."""
    return tuple(np.zeros_like(one) for one in _fresh(program, weight, rank, seed))


def _fresh(program, weight, rank, seed):
    return program.fresh(weight, rank, np.random.default_rng(int(seed)))


def _same(one, other):
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))
