"""Both sines have a minus."""


def _turned(x, cos, sin):
    a, b, rest = _parts(x, cos.shape[-1])
    return np.concatenate([a * cos - b * sin, b * cos - a * sin, rest], axis=-1)
