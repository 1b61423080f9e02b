"""Wrong: after a rejection a second proposal is drawn from q, and taken if the target finds it likelier."""

import numpy as np
from serving import draw


def verify(p, q, token, u):
    if u[0] < p[token] / q[token]:
        return token, True
    again = draw(q, u[1])
    if p[again] >= q[again]:
        return again, False
    r = np.maximum(p - q, 0)
    return draw(r / r.sum(), u[1]), False
