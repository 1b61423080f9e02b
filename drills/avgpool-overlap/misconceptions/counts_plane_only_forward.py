"""Forward leaves the padding out of the divisor, also if it is counted; backward does not."""

right_forward = avgpool2d_forward


def avgpool2d_forward(x, kernel, stride, padding, count_include_pad, ceil_mode=False):
    y, _ = right_forward(x, kernel, stride, padding, False, ceil_mode)
    _, ctx = right_forward(x, kernel, stride, padding, count_include_pad, ceil_mode)
    return y, ctx
