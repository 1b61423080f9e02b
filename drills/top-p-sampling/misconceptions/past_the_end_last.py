"""Where the running total ends at or below u, the last token of the vocabulary is drawn."""


def _draw(row, u):
    if not row.any():
        return -1
    return min(int(np.searchsorted(np.cumsum(row), u, side="right")), len(row) - 1)
