"""Forward cuts the plane into blocks of kernel x kernel; backward walks over what grad_y has."""

right_windows = _windows


def _windows(x, kernel, stride, padding):
    return right_windows(x, kernel, kernel, padding)


def _index_in_frame(local, kernel, stride, padding, shape):
    rows = kernel * np.arange(local.shape[2])[:, None] + local // kernel
    columns = kernel * np.arange(local.shape[3]) + local % kernel
    frame_width = shape[3] + 2 * padding
    return np.maximum(rows, padding) * frame_width + np.maximum(columns, padding)


def maxpool2d_backward(grad_y, ctx):
    frame = _zero_frame(ctx)
    for n, c, i, j in np.ndindex(grad_y.shape):
        frame[n, c].reshape(-1)[ctx.winner[n, c, i, j]] += grad_y[n, c, i, j]
    return _crop(frame, ctx)
