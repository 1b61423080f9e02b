"""Token t sees itself and what follows."""


def _attended(q, k, v, keep):
    visible = _visible(0, q.shape[2], None).T
    if keep is not None:
        visible = visible & keep[:, None, None, :]
    return _weights(_scores(q, k), visible) @ v
