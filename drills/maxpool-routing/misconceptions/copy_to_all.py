"""Every entry of a window gets the whole gradient of its output."""


def maxpool2d_backward(grad_y, ctx):
    kernel, stride = ctx.kernel, ctx.stride
    frame = _zero_frame(ctx)
    for i, j in np.ndindex(grad_y.shape[2:]):
        top, left = i * stride, j * stride
        window = frame[:, :, top : top + kernel, left : left + kernel]
        window += grad_y[:, :, i, j, None, None]
    return _crop(frame, ctx)
