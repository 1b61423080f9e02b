"""The first token is taken to be at position 1."""

_from_zero = _table


def _table(positions, frequencies, dtype):
    return _from_zero(positions + 1, frequencies, dtype)
