"""Scores of padding are replaced by a large negative number, those of later tokens hidden."""

FILL = -1e9


def _attended(q, k, v, keep):
    scores = _scores(q, k)
    if keep is not None:
        scores = np.where(keep[:, None, None, :], scores, FILL)
    return _weights(scores, _visible(0, q.shape[2], None)) @ v
