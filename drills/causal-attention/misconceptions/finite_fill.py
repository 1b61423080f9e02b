"""Hidden scores are replaced by a large negative number."""

FILL = -1e9


def _attended(q, k, v, keep):
    scores = np.where(_visible(0, q.shape[2], keep), _scores(q, k), FILL)
    return _weights(scores, True) @ v
