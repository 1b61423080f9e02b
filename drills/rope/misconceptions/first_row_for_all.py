"""Every sequence gets the positions of the first."""

_placed = _table


def _table(positions, frequencies, dtype):
    return _placed(positions.reshape(-1, positions.shape[-1])[0], frequencies, dtype)
