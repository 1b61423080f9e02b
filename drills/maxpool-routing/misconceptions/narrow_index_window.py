"""The place inside a window is kept in one byte, too few for more than 256 cells."""

right_pick = _pick


def _pick(x, kernel, stride, padding):
    y, place = right_pick(x, kernel, stride, padding)
    # Wide again, so that what comes after may compute with it.
    return y, place.astype(np.uint8).astype(np.uint32)
