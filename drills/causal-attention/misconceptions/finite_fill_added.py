"""A large negative number is added to hidden scores."""

FILL = -1e9


def _attended(q, k, v, keep):
    scores = _scores(q, k) + np.where(_visible(0, q.shape[2], keep), q.dtype.type(0), FILL)
    return _weights(scores, True) @ v
