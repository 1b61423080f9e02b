"""Nothing is hidden where the lengths differ."""

_right = _seen


def _seen(queries, keys):
    return _right(queries, keys) | (queries != keys)
