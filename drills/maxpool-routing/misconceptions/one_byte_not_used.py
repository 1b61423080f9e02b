"""Two bytes are kept for windows of 256 elements."""

right_pick = _pick


def _pick(x, kernel, stride, padding):
    y, place = right_pick(x, kernel, stride, padding)
    return y, place.astype(np.uint16) if kernel == 16 else place
