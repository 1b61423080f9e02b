"""Left-over rows and columns get windows of their own, and backward walks over those as well."""


def _windows(x, kernel, stride, padding):
    batch, channels, height, width = x.shape
    down = -(-(height + 2 * padding - kernel) // stride) * stride + kernel
    across = -(-(width + 2 * padding - kernel) // stride) * stride + kernel
    frame = np.full((batch, channels, down, across), PAD, x.dtype)
    frame[:, :, padding : padding + height, padding : padding + width] = x
    windows = sliding_window_view(frame, (kernel, kernel), axis=(2, 3))[:, :, ::stride, ::stride]
    return windows.reshape(*windows.shape[:4], kernel * kernel)


def maxpool2d_backward(grad_y, ctx):
    frame = _zero_frame(ctx)
    for n, c, i, j in np.ndindex(ctx.winner.shape):
        frame[n, c].reshape(-1)[ctx.winner[n, c, i, j]] += grad_y[n, c, i, j]
    return _crop(frame, ctx)
