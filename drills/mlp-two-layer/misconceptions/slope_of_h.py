"""The slope of the sigmoid is taken at h, which is the sigmoid of z already."""

right_slope = _slope


def _slope(h, act):
    if act == "relu":
        return right_slope(h, act)
    s = _activation(h, act)
    return s * (1 - s)
