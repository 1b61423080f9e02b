"""The whole head turns, whatever the width."""

_partly = rotate


def rotate(q, k, v, positions, base=10000.0, width=None):
    return _partly(q, k, v, positions, base)
