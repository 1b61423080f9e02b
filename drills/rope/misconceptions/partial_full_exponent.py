"""With a width the exponent is still -2 i / d."""


def rotate(q, k, v, positions, base=10000.0, width=None):
    d = q.shape[-1]
    frequencies = _frequencies(d, base)[: (d if width is None else width) // 2]
    cos, sin = _table(positions, frequencies, q.dtype)
    return _turned(q, cos, sin), _turned(k, cos, sin), v
