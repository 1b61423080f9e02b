"""Wrong: p is overwritten by what it has beyond q."""

import numpy as np
from serving import draw


def verify(p, q, token, u):
    if u[0] < p[token] / q[token]:
        return token, True
    r = np.maximum(np.subtract(p, q, out=p), 0, out=p)
    return draw(r / r.sum(), u[1]), False
