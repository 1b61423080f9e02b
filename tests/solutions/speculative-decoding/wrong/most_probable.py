"""Wrong: a replacement is the most probable token of the target."""

import numpy as np
from serving import draw


def verify(p, q, token, u):
    if u[0] < p[token] / q[token]:
        return token, True
    r = p
    return int(r.argmax()), False
