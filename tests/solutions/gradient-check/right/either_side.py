"""x as it is: an entry at 0 may have any slope, the others are measured on both sides."""

import numpy as np


def gradient_is_right(forward, backward, x, rng):
    grad_y = rng.normal(size=forward(x).shape)
    saved = [grad_y.copy(), x.copy()]
    grad_x = backward(grad_y, x)
    if any((a != b).any() for a, b in zip(saved, [grad_y, x], strict=True)):
        return False
    if grad_x.shape != x.shape or np.isnan(grad_x).any():
        return False
    h = 1e-7
    here = np.sum(grad_y * forward(x))
    right, left = np.empty(x.shape), np.empty(x.shape)
    for place in np.ndindex(x.shape):
        step = np.zeros(x.shape)
        step[place] = h
        right[place] = (np.sum(grad_y * forward(x + step)) - here) / h
        left[place] = (here - np.sum(grad_y * forward(x - step))) / h
    room = 1e-5 * max(np.abs(right).max(), np.abs(left).max())
    near = (np.abs(grad_x - right) <= room) & (np.abs(grad_x - left) <= room)
    return bool((near | (x == 0)).all())
