"""Both passes divide by kernel * kernel, also if padding is not counted."""


def _within_plane(starts, ends, length):
    return ends - starts
