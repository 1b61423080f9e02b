"""Scores of later tokens are 0; those of padding are minus infinity."""


def _attended(q, k, v, keep):
    scores = _scores(q, k) * _visible(0, q.shape[2], None)
    return _weights(scores, True if keep is None else keep[:, None, None, :]) @ v
