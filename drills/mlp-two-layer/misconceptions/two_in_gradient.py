"""The loss is halved and the derivative of the square keeps its 2."""

right_error = half_squared_error


def half_squared_error(y, t, keep=None):
    loss, grad_y = right_error(y, t, keep)
    return loss, 2 * grad_y
