"""Frequencies are rounded to the dtype of q, and nothing else is."""

_table_of = _table


def _table(positions, frequencies, dtype):
    return _table_of(positions, frequencies.astype(dtype).astype(np.float64), dtype)
