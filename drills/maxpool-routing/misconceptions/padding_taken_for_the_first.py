"""The padding has the index 0, which is that of the first element of the plane."""


def _index_in_frame(local, kernel, stride, padding, shape):
    height, width = shape[2:]
    rows = stride * np.arange(local.shape[2])[:, None] + local // kernel - padding
    columns = stride * np.arange(local.shape[3]) + local % kernel - padding
    place = np.where((rows < 0) | (columns < 0), 0, rows * width + columns)
    rows, columns = np.divmod(place % (height * width), width)
    return (rows + padding) * (width + 2 * padding) + columns + padding
