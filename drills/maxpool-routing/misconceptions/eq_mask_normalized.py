"""A gradient is divided among the entries that equal the maximum."""

right_forward = maxpool2d_forward


def maxpool2d_forward(x, kernel, stride, padding=0):
    y, ctx = right_forward(x, kernel, stride, padding)
    frame = _frame(x, padding)
    windows = np.lib.stride_tricks.sliding_window_view(frame, (kernel, kernel), axis=(2, 3))
    windows = windows[:, :, ::stride, ::stride]
    return y, (ctx, windows == y[..., None, None])


def maxpool2d_backward(grad_y, ctx):
    ctx, won = ctx
    kernel, stride, padding = ctx.kernel, ctx.stride, ctx.padding
    height, width = ctx.shape[2:]
    real = np.zeros((height + 2 * padding, width + 2 * padding), bool)
    real[padding : padding + height, padding : padding + width] = True
    frame = _zero_frame(ctx)
    for i, j in np.ndindex(grad_y.shape[2:]):
        cells = np.s_[i * stride : i * stride + kernel, j * stride : j * stride + kernel]
        tied = won[:, :, i, j] & real[cells]
        share = grad_y[:, :, i, j] / tied.sum(axis=(2, 3)).astype(ctx.dtype)
        frame[:, :, *cells] += tied * share[..., None, None]
    return _crop(frame, ctx)
