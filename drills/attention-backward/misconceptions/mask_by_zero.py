"""Hidden scores are 0."""


def _scores(q, k, causal):
    scores = q @ k.swapaxes(1, 2) * _scale(q)
    if causal:
        scores = scores * _seen(q.shape[1], k.shape[1])
    return scores
