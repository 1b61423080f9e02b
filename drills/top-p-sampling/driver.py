"""Which tokens have weight."""

import numpy as np


def support(p):
    """Return which probabilities are positive, (B, V) bool."""
    return np.asarray(p) > 0
