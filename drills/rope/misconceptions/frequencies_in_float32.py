"""The frequencies are rounded to float32."""

_exactly = _frequencies


def _frequencies(width, base):
    return _exactly(width, base).astype(np.float32).astype(np.float64)
