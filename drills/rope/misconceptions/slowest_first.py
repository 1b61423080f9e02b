"""The first pair is the slowest."""

_falling = _frequencies


def _frequencies(width, base):
    return _falling(width, base)[::-1]
