"""Wrong: what p has beyond q is squared."""

import numpy as np
from serving import draw


def verify(p, q, token, u):
    if u[0] < p[token] / q[token]:
        return token, True
    r = np.maximum(p - q, 0) ** 2
    return draw(r / r.sum(), u[1]), False
