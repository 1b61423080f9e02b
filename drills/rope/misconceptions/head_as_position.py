"""Heads rotate by their number."""

_placed = rotate


def rotate(q, k, v, positions, base=10000.0, width=None):
    numbers = np.arange(q.shape[1])
    q, k, _ = _placed(q.swapaxes(1, 2), k.swapaxes(1, 2), v, numbers, base, width)
    return q.swapaxes(1, 2), k.swapaxes(1, 2), v
