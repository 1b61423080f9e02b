"""Wrong: replacements are drawn from what q has beyond p."""

import numpy as np
from serving import draw


def verify(p, q, token, u):
    if u[0] < p[token] / q[token]:
        return token, True
    r = np.maximum(q - p, 0) + 1e-300
    return draw(r / r.sum(), u[1]), False
