"""The mean of no rows, and a gradient of 0."""

right_error = half_squared_error


def half_squared_error(y, t, keep=None):
    loss, grad_y = right_error(y, t, keep)
    if keep is not None and not keep.any():
        loss = float("nan")
    return loss, grad_y
