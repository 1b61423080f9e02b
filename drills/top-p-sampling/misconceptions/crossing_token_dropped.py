"""A token is kept while the total with it is at most top_p; a guard keeps the first."""


def _nucleus(shares, top_p):
    if top_p == 1:
        return shares
    keep = np.cumsum(shares) <= top_p
    keep[:1] = True
    return shares[keep]
