"""The first token at which the running total reaches u is drawn, or the last one."""


def _draw(row, u):
    return min(int(np.searchsorted(np.cumsum(row), u)), len(row) - 1)
