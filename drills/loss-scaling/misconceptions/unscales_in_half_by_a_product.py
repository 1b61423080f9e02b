"""The gradient is multiplied by one over the scale in float16."""


def _unscaled(g, scale):
    return (g * (1 / scale)).astype(np.float32)
