"""The gradient is made float64, and so are the weights."""


def _unscaled(g, scale):
    return g.astype(np.float64) / scale
