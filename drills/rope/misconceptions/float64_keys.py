"""Keys come back as float64, and queries as they should."""

_both = rotate


def rotate(q, k, v, positions, base=10000.0, width=None):
    q, k, v = _both(q, k, v, positions, base, width)
    return q, k.astype(np.float64), v
