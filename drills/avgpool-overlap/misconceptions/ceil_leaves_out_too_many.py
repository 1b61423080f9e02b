"""Where a window begins in the padded plane is compared with the length of the plane."""


def _begins_inside(window, length, stride, padding):
    return window * stride < length
