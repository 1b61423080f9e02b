"""Windows that begin beyond the plane are kept, and their average is 0."""

right_within_padding, right_within_plane = _within_padding, _within_plane


def _begins_inside(window, length, stride, padding):
    return True


def _within_padding(starts, ends, length, padding):
    return np.maximum(right_within_padding(starts, ends, length, padding), 1)


def _within_plane(starts, ends, length):
    return np.maximum(right_within_plane(starts, ends, length), 1)
