"""Tokens as probable as the last one of the nucleus stay too."""

_right = _nucleus


def _nucleus(shares, top_p):
    kept = _right(shares, top_p)
    return shares[: np.count_nonzero(shares >= kept[-1])] if len(kept) else kept
