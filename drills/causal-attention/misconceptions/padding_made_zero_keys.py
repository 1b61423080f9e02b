"""Keys and values of padding are set to 0; they keep a weight of exp(0)."""


def _attended(q, k, v, keep):
    if keep is not None:
        k, v = k * keep[:, None, :, None], v * keep[:, None, :, None]
    return _weights(_scores(q, k), _visible(0, q.shape[2], None)) @ v
