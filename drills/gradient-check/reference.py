"""A gradient check: grad_y contracted with central differences, entry by entry.

Two kinds of errors bound the step h. Truncation is h^2 / 6 times the third derivative, rounding is
about 1e-16 / h of the value; their sum is least near the cube root of 1e-16. Both are then around
1e-11 of the value, far below TOLERANCE.

Source: W. H. Press, S. A. Teukolsky, W. T. Vetterling and B. P. Flannery,
"Numerical Recipes", 3rd edition, 2007, section 5.7.
"""

import numpy as np

STEP = 6e-6
TOLERANCE = 1e-5


def gradient_is_right(forward, backward, x, rng) -> bool:
    """Return whether `backward` is the derivative of `forward` at x, for a random grad_y.

    Args:
        forward: f(x) -> y, an array of any shape; its memory may be used again by the next call.
        backward: b(grad_y, x) -> grad_x.
        x: (rows, columns) float64; never modified.
        rng: where grad_y is drawn.
    """
    x = off_the_kinks(x)
    grad_y = draw_grad_y(rng, forward(x).shape)
    grad_x, untouched = call_backward(backward, grad_y, x)
    return bool(untouched) and bool(agree(grad_x, slopes(forward, grad_y, x)))


def off_the_kinks(x):
    """Return x with other values in place of zeros, where a layer may have a kink."""
    return np.where(x == 0, 0.25, x)


def draw_grad_y(rng, shape):
    """Return a cotangent without symmetries: under a constant one a softmax has gradient 0."""
    return rng.normal(size=shape)


def call_backward(backward, grad_y, x):
    """Return grad_x, and whether the arguments are what they were."""
    given_grad_y, given_x = grad_y.copy(), x.copy()
    grad_x = backward(given_grad_y, given_x)
    return grad_x, (given_x == x).all() and (given_grad_y == grad_y).all()


def slopes(forward, grad_y, x):
    """Return d(sum of grad_y * y) / dx, entry by entry, as measured."""
    measured = np.empty_like(x)
    for place in np.ndindex(x.shape):
        measured[place] = slope(forward, grad_y, x, place)
    return measured


def slope(forward, grad_y, x, place):
    """Return one entry of it."""
    up, down = x.copy(), x.copy()
    up[place] += STEP
    down[place] -= STEP
    # Contracted at once: the next call of forward may use the memory of y again.
    above = np.sum(grad_y * forward(up))
    below = np.sum(grad_y * forward(down))
    return (above - below) / (2 * STEP)


def agree(grad_x, measured):
    """Return whether all entries agree, by the size of the largest one.

    NaN agrees with nothing, because the comparison asks for what is right.
    """
    if np.shape(grad_x) != measured.shape:
        return False
    return np.abs(grad_x - measured).max() <= TOLERANCE * np.abs(measured).max()
