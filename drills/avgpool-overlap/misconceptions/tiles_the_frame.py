"""Backward lays the shares side by side in the padded plane, whatever the stride is."""


def avgpool2d_backward(grad_y, ctx):
    height, width = (length + 2 * ctx.padding for length in ctx.shape[2:])
    frame = np.zeros((*ctx.shape[:2], height, width), ctx.divisor.dtype)
    tiles = _share(grad_y, ctx).repeat(ctx.kernel, axis=2).repeat(ctx.kernel, axis=3)
    tiles = tiles[:, :, : frame.shape[2], : frame.shape[3]]
    frame[:, :, : tiles.shape[2], : tiles.shape[3]] = tiles
    return _plane(frame, ctx).copy()
