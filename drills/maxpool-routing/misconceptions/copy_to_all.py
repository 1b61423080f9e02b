"""Every entry of a window gets the whole gradient of its output."""

right_forward = maxpool2d_forward


def maxpool2d_forward(x, kernel, stride, padding=0):
    y, ctx = right_forward(x, kernel, stride, padding)
    return y, (ctx, kernel, stride)


def maxpool2d_backward(grad_y, ctx):
    ctx, kernel, stride = ctx
    frame = _zero_frame(ctx)
    for i, j in np.ndindex(grad_y.shape[2:]):
        top, left = i * stride, j * stride
        window = frame[:, :, top : top + kernel, left : left + kernel]
        window += grad_y[:, :, i, j, None, None]
    return _crop(frame, ctx)
