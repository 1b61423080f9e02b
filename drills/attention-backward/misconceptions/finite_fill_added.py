"""A large negative number is added to hidden scores."""


def _scores(q, k, causal):
    scores = q @ k.swapaxes(1, 2) * _scale(q)
    if causal:
        scores = scores + np.where(_seen(q.shape[1], k.shape[1]), 0, -1e9).astype(q.dtype)
    return scores
