"""Style: long double inside, one-sided differences."""

import numpy as np


def gradient_is_right(forward, backward, x, rng):
    wide = x.astype(np.longdouble)
    wide[wide == 0] = 0.125
    narrow = wide.astype(np.float64)
    first = np.array(forward(wide))
    grad_y = rng.normal(size=first.shape)
    argument, cotangent = narrow.copy(), grad_y.copy()
    grad_x = backward(cotangent, argument)
    if (argument != narrow).any() or (cotangent != grad_y).any():
        return False
    if grad_x.shape != x.shape:
        return False
    h = np.longdouble(1e-8)
    worst = largest = 0.0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            moved = wide.copy()
            moved[i, j] += h
            slope = ((forward(moved) - first) * grad_y).sum() / h
            if not np.isfinite(grad_x[i, j]):
                return False
            worst = max(worst, abs(slope - grad_x[i, j]))
            largest = max(largest, abs(slope))
    return bool(worst <= 3e-6 * largest)
