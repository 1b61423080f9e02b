"""The place in the plane is kept in a signed 16-bit integer, which wraps at 32768."""

right_index = _index_in_frame


def _index_in_frame(local, kernel, stride, padding, shape):
    cells = shape[2] * shape[3]
    frame_width = shape[3] + 2 * padding
    row, column = np.divmod(right_index(local, kernel, stride, padding, shape), frame_width)
    place = ((row - padding) * shape[3] + column - padding).astype(np.int16).astype(np.int64)
    # numpy counts a negative place from the end of the plane.
    place = np.where(place < 0, place + cells, place)
    return (place // shape[3] + padding) * frame_width + place % shape[3] + padding
