"""The first token at which the running total reaches u is drawn."""


def _draw(row, u):
    tokens = np.flatnonzero(row)
    if len(tokens) == 0:
        return -1
    return min(int(np.searchsorted(np.cumsum(row), u)), int(tokens[-1]))
