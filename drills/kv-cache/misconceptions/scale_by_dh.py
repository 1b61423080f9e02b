"""Scores are divided by dh."""

_rooted = _attended


def _attended(q, keys, values, visible):
    return _rooted(q / q.dtype.type(q.shape[3] ** 0.5), keys, values, visible)
