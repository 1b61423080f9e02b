"""A token is kept while the total before the one before it is below top_p."""


def _nucleus(shares, top_p):
    if top_p == 1:
        return shares
    before = np.cumsum(shares)[:-1]
    return shares[: 2 + np.searchsorted(before, top_p)]
