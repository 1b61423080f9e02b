"""Each gradient is shared equally among the kernel * kernel cells of its window."""


def maxpool2d_backward(grad_y, ctx):
    kernel, stride = ctx.kernel, ctx.stride
    frame = _zero_frame(ctx)
    share = grad_y / (kernel * kernel)
    for i, j in np.ndindex(grad_y.shape[2:]):
        top, left = i * stride, j * stride
        window = frame[:, :, top : top + kernel, left : left + kernel]
        window += share[:, :, i, j, None, None]
    return _crop(frame, ctx)
