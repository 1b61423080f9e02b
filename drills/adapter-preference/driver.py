"""A new adapter: what it changes, and whether it can learn."""

import numpy as np


def begin(program, weight, rank, seed, batch):
    """Return what a new adapter adds, the rank it learns in, and whether it comes from rng."""
    a, b = program.fresh(weight, rank, np.random.default_rng(int(seed)))
    others = program.fresh(weight, rank, np.random.default_rng(int(seed) + 1))
    _, *grads = program.preference_loss(*batch[:4], weight, a, b, 2.0, 0.5)
    learns = max(int(np.linalg.matrix_rank(grad)) for grad in grads)
    drawn = not all(np.array_equal(one, other) for one, other in zip((a, b), others, strict=True))
    return np.asarray(b) @ np.asarray(a), learns, drawn


def sizes(program, weight, rank, seed):
    """Return zeros in the shapes of a new adapter."""
    a, b = program.fresh(weight, rank, np.random.default_rng(int(seed)))
    return np.zeros(np.shape(a)), np.zeros(np.shape(b))
