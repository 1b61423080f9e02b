"""grad_y has only the kept rows."""

right_error = half_squared_error


def half_squared_error(y, t, keep=None):
    loss, grad_y = right_error(y, t, keep)
    return loss, grad_y if keep is None else grad_y[keep]
