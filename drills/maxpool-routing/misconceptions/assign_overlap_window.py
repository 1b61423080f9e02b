"""Each window's gradient is written over the whole window, wiping out what its neighbors left."""

right_forward = maxpool2d_forward


def maxpool2d_forward(x, kernel, stride, padding=0):
    y, ctx = right_forward(x, kernel, stride, padding)
    return y, (ctx, kernel, stride)


def maxpool2d_backward(grad_y, ctx):
    ctx, kernel, stride = ctx
    frame = _zero_frame(ctx)
    for n, c, i, j in np.ndindex(grad_y.shape):
        top, left = i * stride, j * stride
        frame[n, c, top : top + kernel, left : left + kernel] = 0.0
        frame[n, c].reshape(-1)[ctx.winner[n, c, i, j]] = grad_y[n, c, i, j]
    return _crop(frame, ctx)
