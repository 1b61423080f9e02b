"""The place inside a window is kept in two bytes, too few for more than 65,536 elements."""

right_pick = _pick


def _pick(x, kernel, stride, padding):
    y, place = right_pick(x, kernel, stride, padding)
    return y, place.astype(np.uint16) if kernel > 256 else place
