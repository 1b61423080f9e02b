"""Each gradient is shared equally among the kernel * kernel cells of its window."""

right_forward = maxpool2d_forward


def maxpool2d_forward(x, kernel, stride, padding=0):
    y, ctx = right_forward(x, kernel, stride, padding)
    return y, (ctx, kernel, stride)


def maxpool2d_backward(grad_y, ctx):
    ctx, kernel, stride = ctx
    frame = _zero_frame(ctx)
    share = grad_y / (kernel * kernel)
    for i, j in np.ndindex(grad_y.shape[2:]):
        top, left = i * stride, j * stride
        window = frame[:, :, top : top + kernel, left : left + kernel]
        window += share[:, :, i, j, None, None]
    return _crop(frame, ctx)
