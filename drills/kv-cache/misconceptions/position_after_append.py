"""The first token of a piece stands at the length that the cache has after the piece."""


def _turned(q, k, past):
    n = q.shape[2]
    positions = np.arange(past + n, past + 2 * n)
    return rope(q, positions), rope(k, positions)
