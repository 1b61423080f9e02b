"""Four bytes are kept for windows of 65,536 elements."""

right_pick = _pick


def _pick(x, kernel, stride, padding):
    y, place = right_pick(x, kernel, stride, padding)
    return y, place.astype(np.uint32) if kernel == 256 else place
