"""A mask of ones is float64, and so is all that it touches."""

_in_one_dtype = _scores


def _scores(q, k, causal):
    scores = _in_one_dtype(q, k, causal)
    return scores.astype(np.float64) if causal else scores
