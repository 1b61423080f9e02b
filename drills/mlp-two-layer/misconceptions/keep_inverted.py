"""Rows count where keep is False."""

_as_given = half_squared_error


def half_squared_error(y, t, keep=None):
    return _as_given(y, t, None if keep is None else ~keep)
