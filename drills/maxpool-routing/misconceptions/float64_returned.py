"""grad_x is made by np.zeros(shape), which is float64 whatever x is."""


def _zero_frame(ctx):
    batch, channels, height, width = ctx.shape
    padding = ctx.padding
    return np.zeros((batch, channels, height + 2 * padding, width + 2 * padding))
