"""The backward pass takes window (i, j) to start kernel entries after the one before it."""


def _index_in_frame(local, kernel, stride, padding, shape):
    rows = kernel * np.arange(local.shape[2])[:, None] + local // kernel
    columns = kernel * np.arange(local.shape[3]) + local % kernel
    rows, columns = np.maximum(rows, padding), np.maximum(columns, padding)
    frame_height, frame_width = shape[2] + 2 * padding, shape[3] + 2 * padding
    inside = (rows < frame_height) & (columns < frame_width)
    return np.where(inside, rows * frame_width + columns, -1)


def maxpool2d_backward(grad_y, ctx):
    frame = _zero_frame(ctx)
    for n, c, i, j in np.argwhere(ctx.winner >= 0):
        frame[n, c].reshape(-1)[ctx.winner[n, c, i, j]] += grad_y[n, c, i, j]
    return _crop(frame, ctx)
