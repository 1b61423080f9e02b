"""A flat place in the plane is decoded with the height where the width belongs."""

right_index = _index_in_frame


def _index_in_frame(local, kernel, stride, padding, shape):
    height, width = shape[2:]
    frame_width = width + 2 * padding
    rows, columns = np.divmod(right_index(local, kernel, stride, padding, shape), frame_width)
    place = (rows - padding) * width + columns - padding
    rows, columns = np.divmod(place, height)
    place = np.minimum(rows * width + columns, height * width - 1)
    return (place // width + padding) * frame_width + place % width + padding
