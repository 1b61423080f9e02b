"""The caller's own arrays are turned."""


def _turned(x, cos, sin):
    a, b, _ = _parts(x, cos.shape[-1])
    a[...], b[...] = a * cos - b * sin, b * cos + a * sin
    return x
