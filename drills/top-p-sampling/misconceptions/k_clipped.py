"""k is clipped to V - 1, so that it is an index into the row."""

_right = _ranked


def _ranked(row, top_k):
    return _right(row, min(top_k, len(row) - 1))
