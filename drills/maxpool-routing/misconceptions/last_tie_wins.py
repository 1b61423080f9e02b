"""The last of several equal maxima gets the gradient, not the first."""


def _pick(x, kernel, stride, padding):
    frame = _frame(x, padding)
    windows = np.lib.stride_tricks.sliding_window_view(frame, (kernel, kernel), axis=(2, 3))
    windows = windows[:, :, ::stride, ::stride]
    cells = windows.reshape(*windows.shape[:4], kernel * kernel)
    last = kernel * kernel - 1 - cells[..., ::-1].argmax(axis=-1)
    return cells.max(axis=-1), last


def _index_in_frame(local, kernel, stride, padding, shape):
    rows = stride * np.arange(local.shape[2])[:, None] + local // kernel
    columns = stride * np.arange(local.shape[3]) + local % kernel
    last_row, last_column = padding + shape[2] - 1, padding + shape[3] - 1
    frame_width = shape[3] + 2 * padding
    return np.minimum(rows, last_row) * frame_width + np.minimum(columns, last_column)
