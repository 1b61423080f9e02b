"""Wrong: where nothing is left the first token of the vocabulary is returned."""

import numpy as np
from serving import draw


def verify(p, q, token, u):
    if u[0] < p[token] / q[token]:
        return token, True
    r = np.maximum(p - q, 0)
    return (draw(r / r.sum(), u[1]) if r.any() else 0), False
