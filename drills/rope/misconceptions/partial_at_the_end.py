"""The last entries of a head turn, in place of the first."""

_first = _turned


def _turned(x, cos, sin):
    rest = x.shape[-1] - 2 * cos.shape[-1]
    return np.concatenate([x[..., :rest], _first(x[..., rest:], cos, sin)], axis=-1)
