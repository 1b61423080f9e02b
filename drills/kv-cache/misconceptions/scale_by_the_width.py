"""Scores are divided by the root of D."""

_by_head = _attended


def _attended(q, keys, values, visible):
    return _by_head(q / q.dtype.type(q.shape[1] ** 0.5), keys, values, visible)
