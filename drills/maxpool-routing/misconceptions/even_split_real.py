"""Each gradient is shared equally among the entries of its window that are not padding."""


def maxpool2d_backward(grad_y, ctx):
    kernel, stride = ctx.kernel, ctx.stride
    height, width = ctx.shape[2:]
    grad_x = np.zeros(ctx.shape, ctx.dtype)
    for i, j in np.ndindex(grad_y.shape[2:]):
        top, left = i * stride - ctx.padding, j * stride - ctx.padding
        rows = slice(max(top, 0), min(top + kernel, height))
        columns = slice(max(left, 0), min(left + kernel, width))
        window = grad_x[:, :, rows, columns]
        window += grad_y[:, :, i, j, None, None] / (window.shape[2] * window.shape[3])
    return grad_x
