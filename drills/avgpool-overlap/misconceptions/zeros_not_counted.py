"""If padding is not counted, the divisor is the number of entries that are not 0."""

right_forward, right_backward = avgpool2d_forward, avgpool2d_backward


def avgpool2d_forward(x, kernel, stride, padding, count_include_pad, ceil_mode=False):
    y, ctx = right_forward(x, kernel, stride, padding, count_include_pad, ceil_mode)
    if count_include_pad:
        return y, (ctx, 1)
    frame = _frame(ctx)
    _plane(frame, ctx)[...] = x != 0
    ratio = (ctx.divisor / np.maximum(_sums(frame, ctx), 1)).astype(x.dtype)
    return y * ratio, (ctx, ratio)


def avgpool2d_backward(grad_y, ctx):
    ctx, ratio = ctx
    return right_backward(grad_y * ratio, ctx)
