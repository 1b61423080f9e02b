"""Where the running total ends at or below u, the index is V."""


def _draw(row, u):
    return int(np.searchsorted(np.cumsum(row), u, side="right")) if row.any() else -1
