"""With keep, the gradient is not divided."""

_of_a_mean = half_squared_error


def half_squared_error(y, t, keep=None):
    loss, grad_y = _of_a_mean(y, t, keep)
    return loss, grad_y if keep is None else grad_y * _count(keep)
