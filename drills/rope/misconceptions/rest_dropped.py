"""What does not rotate is left out."""


def _turned(x, cos, sin):
    a, b, _ = _parts(x, cos.shape[-1])
    return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)
