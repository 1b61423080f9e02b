"""The padding has the index -1, which is that of the last element of the plane before."""


def maxpool2d_backward(grad_y, ctx):
    n, c, height, width = ctx.shape
    kernel, stride, padding = ctx.kernel, ctx.stride, ctx.padding
    rows = stride * np.arange(grad_y.shape[2])[:, None] + ctx.winner // kernel - padding
    columns = stride * np.arange(grad_y.shape[3]) + ctx.winner % kernel - padding
    place = np.where((rows < 0) | (columns < 0), -1, rows * width + columns)
    planes = np.arange(n * c).reshape(n, c, 1, 1) * (height * width)
    grad_x = np.zeros(n * c * height * width, ctx.dtype)
    np.add.at(grad_x, (planes + place).ravel(), grad_y.ravel())
    return grad_x.reshape(n, c, height, width)
