"""Wrong: where nothing is left the replacement is uniform over the vocabulary."""

import numpy as np
from serving import draw


def verify(p, q, token, u):
    if u[0] < p[token] / q[token]:
        return token, True
    r = np.maximum(p - q, 0)
    return draw(r / r.sum() if r.any() else np.full(len(p), 1 / len(p)), u[1]), False
