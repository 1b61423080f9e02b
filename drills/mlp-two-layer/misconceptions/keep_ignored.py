"""All rows count, whatever keep says."""

_kept_only = half_squared_error


def half_squared_error(y, t, keep=None):
    return _kept_only(y, t)
