"""Wrong: proposals are kept with p / (p + q)."""

import numpy as np
from serving import draw


def verify(p, q, token, u):
    if u[0] < p[token] / (p[token] + q[token]):
        return token, True
    r = np.maximum(p - q, 0)
    return draw(r / r.sum(), u[1]), False
