"""Everything turns the other way."""

_forward = _turned


def _turned(x, cos, sin):
    return _forward(x, cos, -sin)
