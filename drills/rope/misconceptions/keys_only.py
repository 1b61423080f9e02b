"""Queries stay as they are."""

_both = rotate


def rotate(q, k, v, positions, base=10000.0, width=None):
    return q.copy(), _both(q, k, v, positions, base, width)[1], v
