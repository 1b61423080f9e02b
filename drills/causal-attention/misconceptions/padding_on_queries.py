"""Queries that are padding see nothing; keys that are padding are seen."""


def _visible(first, last, keep):
    visible = np.arange(last) <= np.arange(first, last)[:, None]
    return visible if keep is None else visible & keep[:, None, first:last, None]
