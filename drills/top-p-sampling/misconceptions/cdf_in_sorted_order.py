"""The running total goes through the tokens in falling order of probability."""


def _draw(row, u):
    if not row.any():
        return -1
    order = np.argsort(-row, kind="stable")[: np.count_nonzero(row)]
    place = np.searchsorted(np.cumsum(row[order]), u, side="right")
    return int(order[min(int(place), len(order) - 1)])
