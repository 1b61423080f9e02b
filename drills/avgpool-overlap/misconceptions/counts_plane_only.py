"""Both passes leave the padding out of the divisor, also if it is counted."""


def _within_padding(starts, ends, length, padding):
    return _within_plane(starts, ends, length)
