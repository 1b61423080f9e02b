"""What does not rotate becomes 0."""


def _turned(x, cos, sin):
    a, b, rest = _parts(x, cos.shape[-1])
    return np.concatenate([a * cos - b * sin, b * cos + a * sin, 0 * rest], axis=-1)
