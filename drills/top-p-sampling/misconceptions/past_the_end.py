"""Where the running total ends at or below u, token 0 is drawn."""


def _draw(row, u):
    return int(np.argmax(np.cumsum(row) > u)) if row.any() else -1
