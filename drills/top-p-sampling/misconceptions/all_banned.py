"""A row without a token is NaN."""

_right = probs


def probs(logits, temperature=1.0, top_k=0, top_p=1.0):
    p = _right(logits, temperature, top_k, top_p)
    p[~p.any(axis=1)] = np.nan
    return p


def _draw(row, u):
    if np.isnan(row).any():
        return 0
    place = np.searchsorted(np.cumsum(row), u, side="right")
    return min(int(place), int(np.flatnonzero(row)[-1]))
