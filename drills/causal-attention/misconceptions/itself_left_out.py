"""Token t sees tokens 0 to t - 1."""


def _visible(first, last, keep):
    visible = np.arange(last) < np.arange(first, last)[:, None]
    return visible if keep is None else visible & keep[:, None, None, :last]
