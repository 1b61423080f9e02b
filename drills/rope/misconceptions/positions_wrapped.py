"""Positions begin again after 4,096."""

_endless = _table


def _table(positions, frequencies, dtype):
    return _endless(positions % 4096, frequencies, dtype)
