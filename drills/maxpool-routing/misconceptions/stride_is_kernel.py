"""The backward pass takes window (i, j) to start kernel entries after the one before it."""


def maxpool2d_backward(grad_y, ctx):
    (n, c, height, width), kernel, padding = ctx.shape, ctx.kernel, ctx.padding
    down, across = grad_y.shape[2:]
    rows = np.maximum(kernel * np.arange(down)[:, None] + ctx.winner // kernel, padding)
    columns = np.maximum(kernel * np.arange(across) + ctx.winner % kernel, padding)
    # What lands beyond the plane is cut off.
    frame_height = max(height + 2 * padding, kernel * down)
    frame_width = max(width + 2 * padding, kernel * across)
    frame = np.zeros((n, c, frame_height, frame_width), ctx.dtype)
    image, channel = np.ogrid[:n, :c]
    np.add.at(frame, (image[..., None, None], channel[..., None, None], rows, columns), grad_y)
    return _crop(frame, ctx)
