"""The loss of the kept rows is divided by the number of all rows."""

right_error = half_squared_error


def half_squared_error(y, t, keep=None):
    loss, grad_y = right_error(y, t, keep)
    share = (len(y) if keep is None else _count(keep)) / len(y)
    return loss * share, grad_y * share
