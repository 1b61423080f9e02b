"""Tokens of earlier pieces are not seen."""

right_visible = _visible


def _visible(past, n):
    return right_visible(past, n) & (np.arange(past + n) >= past)
