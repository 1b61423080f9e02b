"""A gradient is divided among the cells that equal the maximum, tied padding included."""

right_forward = maxpool2d_forward


def maxpool2d_forward(x, kernel, stride, padding=0):
    y, ctx = right_forward(x, kernel, stride, padding)
    frame = _frame(x, padding)
    windows = np.lib.stride_tricks.sliding_window_view(frame, (kernel, kernel), axis=(2, 3))
    windows = windows[:, :, ::stride, ::stride]
    return y, (ctx, windows == y[..., None, None])


def maxpool2d_backward(grad_y, ctx):
    ctx, won = ctx
    kernel, stride = ctx.kernel, ctx.stride
    frame = _zero_frame(ctx)
    share = grad_y / won.sum(axis=(4, 5)).astype(ctx.dtype)
    for i, j in np.ndindex(grad_y.shape[2:]):
        top, left = i * stride, j * stride
        window = frame[:, :, top : top + kernel, left : left + kernel]
        window += won[:, :, i, j] * share[:, :, i, j, None, None]
    return _crop(frame, ctx)
