"""A flat place in the padded plane is decoded with its height where its width belongs."""

right_index = _index_in_frame


def _index_in_frame(local, kernel, stride, padding, shape):
    height, width = shape[2] + 2 * padding, shape[3] + 2 * padding
    rows, columns = np.divmod(right_index(local, kernel, stride, padding, shape), height)
    return np.minimum(rows * width + columns, height * width - 1)
