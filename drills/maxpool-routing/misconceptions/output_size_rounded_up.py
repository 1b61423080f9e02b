"""Rows and columns left over at the end get windows of their own, filled up with padding."""

right_pick = _pick


def _pick(x, kernel, stride, padding):
    down = -(x.shape[2] + 2 * padding - kernel) % stride
    across = -(x.shape[3] + 2 * padding - kernel) % stride
    wider = np.pad(x, ((0, 0), (0, 0), (0, down), (0, across)), constant_values=-np.inf)
    return right_pick(wider, kernel, stride, padding)
