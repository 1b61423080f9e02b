"""Forward divides by kernel * kernel, also if padding is not counted; backward does not."""

right_forward = avgpool2d_forward


def avgpool2d_forward(x, kernel, stride, padding, count_include_pad, ceil_mode=False):
    _, ctx = right_forward(x, kernel, stride, padding, count_include_pad, ceil_mode)
    if count_include_pad:
        return _, ctx
    y, _ = right_forward(x, kernel, stride, padding, True, ceil_mode)
    return y, ctx
