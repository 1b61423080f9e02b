"""The number of kept rows is a numpy integer, and float32 divided by it is float64."""

right_error = half_squared_error


def half_squared_error(y, t, keep=None):
    if keep is None:
        return right_error(y, t)
    residual = _residual(y, t, keep)
    count = np.maximum(keep.sum(), 1)
    return _half_of_squares(residual) / count, residual / count
