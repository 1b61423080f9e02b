"""Values of padding are set to 0; its keys keep their weight."""


def _attended(q, k, v, keep):
    values = v if keep is None else v * keep[:, None, :, None]
    return _weights(_scores(q, k), _visible(0, q.shape[2], None)) @ values
