"""Wrong: a hundredth is added to q in the ratio, so that too few proposals are kept."""

import numpy as np
from serving import draw


def verify(p, q, token, u):
    if u[0] < p[token] / (q[token] + 0.01):
        return token, True
    r = np.maximum(p - q, 0)
    return draw(r / r.sum(), u[1]), False
