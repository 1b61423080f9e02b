"""Wrong: replacements are drawn from p / q."""

import numpy as np
from serving import draw


def verify(p, q, token, u):
    if u[0] < p[token] / q[token]:
        return token, True
    r = p / np.maximum(q, 1e-12)
    return draw(r / r.sum(), u[1]), False
