"""A token is kept if its own probability is at least top_p; the first one always."""


def _nucleus(shares, top_p):
    keep = shares >= (top_p if top_p < 1 else 0)
    keep[:1] = True
    return shares[keep]
