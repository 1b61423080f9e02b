"""One token more than k stays: the threshold is read one place too far."""

_right = _ranked


def _ranked(row, top_k):
    return _right(row, top_k + 1 if top_k else 0)
