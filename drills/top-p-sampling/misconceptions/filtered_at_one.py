"""top_p = 1.0 goes through the filter, too."""


def _nucleus(shares, top_p):
    before = np.cumsum(shares)[:-1]
    return shares[: 1 + np.searchsorted(before, top_p)]
