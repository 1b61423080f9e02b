"""Backward lays the shares side by side from the plane's own corner, whatever stride and padding are."""


def avgpool2d_backward(grad_y, ctx):
    grad_x = np.zeros(ctx.shape, ctx.divisor.dtype)
    tiles = np.kron(_share(grad_y, ctx), np.ones((1, 1, ctx.kernel, ctx.kernel), grad_x.dtype))
    tiles = tiles[:, :, : grad_x.shape[2], : grad_x.shape[3]]
    grad_x[:, :, : tiles.shape[2], : tiles.shape[3]] = tiles
    return grad_x
