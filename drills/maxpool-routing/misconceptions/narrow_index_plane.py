"""The place in the plane is kept in an unsigned 16-bit integer, which wraps at 65536."""

right_index = _index_in_frame


def _index_in_frame(local, kernel, stride, padding, shape):
    frame_width = shape[3] + 2 * padding
    row, column = np.divmod(right_index(local, kernel, stride, padding, shape), frame_width)
    place = ((row - padding) * shape[3] + column - padding).astype(np.uint16).astype(np.int64)
    return (place // shape[3] + padding) * frame_width + place % shape[3] + padding
