"""The first token at which the running total reaches u is drawn, or V."""


def _draw(row, u):
    return int(np.searchsorted(np.cumsum(row), u))
