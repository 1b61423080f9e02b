"""Each window's gradient is written over the whole window, wiping out what its neighbors left."""


def maxpool2d_backward(grad_y, ctx):
    kernel, stride = ctx.kernel, ctx.stride
    place = _index_in_frame(ctx.winner, kernel, stride, ctx.padding, ctx.shape)
    frame = _zero_frame(ctx)
    for n, c, i, j in np.ndindex(grad_y.shape):
        top, left = i * stride, j * stride
        frame[n, c, top : top + kernel, left : left + kernel] = 0.0
        frame[n, c].reshape(-1)[place[n, c, i, j]] = grad_y[n, c, i, j]
    return _crop(frame, ctx)
