"""Values are turned as well."""


def rotate(q, k, v, positions, base=10000.0, width=None):
    width = q.shape[-1] if width is None else width
    cos, sin = _table(positions, _frequencies(width, base), q.dtype)
    return _turned(q, cos, sin), _turned(k, cos, sin), _turned(v, cos, sin)
