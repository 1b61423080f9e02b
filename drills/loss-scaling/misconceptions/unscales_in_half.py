"""The gradient is divided by the scale in float16."""


def _unscaled(g, scale):
    return (g / scale).astype(np.float32)
