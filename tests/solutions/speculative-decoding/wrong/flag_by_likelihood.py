"""Wrong: a kept proposal that the target finds less likely is called a replacement."""

import numpy as np
from serving import draw


def verify(p, q, token, u):
    if u[0] < p[token] / q[token]:
        return token, bool(p[token] >= q[token])
    r = np.maximum(p - q, 0)
    return draw(r / r.sum(), u[1]), False
