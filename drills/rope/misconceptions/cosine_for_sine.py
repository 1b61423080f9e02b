"""Cosine and sine are in each other's place."""

_right = _table


def _table(positions, frequencies, dtype):
    return _right(positions, frequencies, dtype)[::-1]
