"""All tokens of a piece stand at the position of its last."""


def _turned(q, k, past):
    n = q.shape[2]
    positions = np.full(n, past + n - 1)
    return rope(q, positions), rope(k, positions)
