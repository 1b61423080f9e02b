"""The place inside a window is decoded with its row and its column exchanged."""


def _index_in_frame(local, kernel, stride, padding, shape):
    rows = stride * np.arange(local.shape[2])[:, None] + local % kernel
    columns = stride * np.arange(local.shape[3]) + local // kernel
    frame_width = shape[3] + 2 * padding
    return np.maximum(rows, padding) * frame_width + np.maximum(columns, padding)
