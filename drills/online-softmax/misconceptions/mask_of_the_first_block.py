"""The first columns of the mask are used for every block."""

_right = _scores


def _scores(q, k, mask, keys):
    scores = _right(q, k, None, keys)
    return scores if mask is None else np.where(mask[:, : scores.shape[1]], scores, -np.inf)
