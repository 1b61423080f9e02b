"""Hidden scores are set to a large negative number."""


def _scores(q, k, causal):
    scores = q @ k.swapaxes(1, 2) * _scale(q)
    if causal:
        scores = np.where(_seen(q.shape[1], k.shape[1]), scores, -1e9)
    return scores
