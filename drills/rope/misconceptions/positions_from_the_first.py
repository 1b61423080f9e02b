"""Positions are counted from that of the first token."""

_placed = _table


def _table(positions, frequencies, dtype):
    return _placed(positions - positions[..., :1], frequencies, dtype)
