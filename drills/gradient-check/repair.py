"""The gradient check of our continuous integration."""

import numpy as np


def gradient_is_right(forward, backward, x, rng):
    """Compare backward with central differences of the sum of all outputs."""
    h = 1e-5
    # why 2: A layer may have its kink where x is 0, and any x of the same signs
    #      will do.
    x = np.where(x == 0, 0.25, x)
    # why: With ones a backward that never looks at grad_y is right, and the
    #      outputs of a softmax have a sum that does not depend on x.
    grad_y = rng.normal(size=forward(x).shape)
    # why 3: backward may write to what it is given, so it is given copies.
    given_y, given_x = grad_y.copy(), x.copy()
    analytic = backward(given_y, given_x)
    if not (np.array_equal(given_y, grad_y) and np.array_equal(given_x, x)):
        return False
    # why 3: A subtraction would stretch another shape without a word.
    if np.shape(analytic) != x.shape:
        return False
    numeric = np.zeros_like(x)
    for place in np.ndindex(*x.shape):
        up, down = x.copy(), x.copy()
        up[place] += h
        down[place] -= h
        # why: The loss whose gradient backward gives is the sum of grad_y * y.
        #      Each sum is a number before forward is called again.
        above = np.sum(grad_y * forward(up))
        below = np.sum(grad_y * forward(down))
        numeric[place] = (above - below) / (2 * h)
    # why 2: An absolute tolerance means nothing where gradients are around
    #      1e-9, so all is measured by the largest element.
    scale = np.abs(numeric).max() or 1.0
    numeric, analytic = numeric / scale, analytic / scale
    # why: A right gradient agrees to about 1e-10 of its largest element. 1e-2
    #      lets an error of two thousandths through.
    return np.allclose(analytic, numeric, rtol=1e-5, atol=1e-6)
