"""The table holds each angle twice in a row, as for neighbors; features are paired by halves."""


def _turned(x, cos, sin):
    half = cos.shape[-1]
    a, b, rest = _parts(x, half)
    cos, sin = np.repeat(cos, 2, axis=-1), np.repeat(sin, 2, axis=-1)
    first = a * cos[..., :half] - b * sin[..., :half]
    second = b * cos[..., half:] + a * sin[..., half:]
    return np.concatenate([first, second, rest], axis=-1)
