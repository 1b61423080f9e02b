"""Where the running total ends at or below u, the last token is drawn, from an empty row too."""


def _draw(row, u):
    return min(int(np.searchsorted(np.cumsum(row), u, side="right")), len(row) - 1)
