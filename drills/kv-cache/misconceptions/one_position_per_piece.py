"""All tokens of a piece stand at the position of its first."""


def _turned(q, k, past):
    positions = np.full(q.shape[2], past)
    return rope(q, positions), rope(k, positions)
