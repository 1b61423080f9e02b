"""If padding is counted, forward divides by kernel * kernel also beyond the padded plane; backward does not."""

right_forward = avgpool2d_forward


def avgpool2d_forward(x, kernel, stride, padding, count_include_pad, ceil_mode=False):
    y, ctx = right_forward(x, kernel, stride, padding, count_include_pad, ceil_mode)
    return (y * (ctx.divisor / kernel**2) if count_include_pad else y), ctx
