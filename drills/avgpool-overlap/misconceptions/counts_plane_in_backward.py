"""Backward leaves the padding out of the divisor, also if it is counted."""


def _share(grad_y, ctx):
    frame = _frame(ctx)
    _plane(frame, ctx)[...] = 1
    return grad_y / _sums(frame, ctx)
