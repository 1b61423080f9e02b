"""The number of real tokens is counted, and the first so many are seen."""


def _visible(first, last, keep):
    visible = np.arange(last) <= np.arange(first, last)[:, None]
    if keep is None:
        return visible
    lengths = keep.sum(axis=1)[:, None, None, None]
    return visible & (np.arange(last) < lengths)
