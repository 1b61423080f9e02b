"""Padding is attended to and real tokens are hidden."""

_right = _visible


def _visible(first, last, keep):
    return _right(first, last, None if keep is None else ~keep)
