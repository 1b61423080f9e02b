"""Wrong: a replacement is the token that p exceeds q by most, every time."""

import numpy as np
from serving import draw


def verify(p, q, token, u):
    if u[0] < p[token] / q[token]:
        return token, True
    r = np.maximum(p - q, 0)
    return int(np.argmax(r)), False
