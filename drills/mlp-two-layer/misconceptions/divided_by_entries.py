"""The mean is taken over all entries, rows times outputs, as a library's mean squared error does."""

right_error = half_squared_error


def half_squared_error(y, t, keep=None):
    loss, grad_y = right_error(y, t, keep)
    return loss / y.shape[1], grad_y / y.shape[1]
