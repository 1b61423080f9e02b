"""Token t sees tokens 0 to t + 1."""


def _attended(q, k, v, keep):
    visible = np.tri(q.shape[2], k=1, dtype=bool)
    if keep is not None:
        visible = visible & keep[:, None, None, :]
    return _weights(_scores(q, k), visible) @ v
