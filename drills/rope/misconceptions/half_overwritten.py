"""The second half is computed from the first as it is after the rotation."""


def _turned(x, cos, sin):
    out = x.copy()
    a, b, _ = _parts(out, cos.shape[-1])
    a[...] = a * cos - b * sin
    b[...] = b * cos + a * sin
    return out
