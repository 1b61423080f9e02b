"""The slope of the ReLU is an array of Python floats, which is float64."""

right_slope = _slope


def _slope(h, act):
    return np.where(h > 0, 1.0, 0.0) if act == "relu" else right_slope(h, act)
