"""Keys that are padding are hidden, and queries that are padding see nothing."""


def _visible(first, last, keep):
    visible = np.arange(last) <= np.arange(first, last)[:, None]
    if keep is None:
        return visible
    return visible & keep[:, None, None, :last] & keep[:, None, first:last, None]
