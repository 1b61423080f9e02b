"""The forward pass cuts the padded plane into blocks of kernel x kernel, whatever the stride is."""

right_windows = _windows


def _windows(x, kernel, stride, padding):
    return right_windows(x, kernel, kernel, padding)


def _index_in_frame(local, kernel, stride, padding, shape):
    rows = kernel * np.arange(local.shape[2])[:, None] + local // kernel
    columns = kernel * np.arange(local.shape[3]) + local % kernel
    frame_width = shape[3] + 2 * padding
    return np.maximum(rows, padding) * frame_width + np.maximum(columns, padding)
