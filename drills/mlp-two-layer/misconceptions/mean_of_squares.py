"""The mean of the squares over all entries, without a half: a library's mean squared error."""

right_error = half_squared_error


def half_squared_error(y, t, keep=None):
    loss, grad_y = right_error(y, t, keep)
    return 2 * loss / y.shape[1], 2 * grad_y / y.shape[1]
