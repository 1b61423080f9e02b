"""Left-over rows and columns get windows of their own; backward walks over what grad_y has."""

right_pick = _pick


def _pick(x, kernel, stride, padding):
    down = -(x.shape[2] + 2 * padding - kernel) % stride
    across = -(x.shape[3] + 2 * padding - kernel) % stride
    wider = np.pad(x, ((0, 0), (0, 0), (0, down), (0, across)), constant_values=-np.inf)
    return right_pick(wider, kernel, stride, padding)


def maxpool2d_backward(grad_y, ctx):
    place = _index_in_frame(ctx.winner, ctx.kernel, ctx.stride, ctx.padding, ctx.shape)
    frame = _zero_frame(ctx)
    for n, c, i, j in np.ndindex(grad_y.shape):
        frame[n, c].reshape(-1)[place[n, c, i, j]] += grad_y[n, c, i, j]
    return _crop(frame, ctx)
