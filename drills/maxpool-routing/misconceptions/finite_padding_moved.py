"""The padding is a finite number; where it wins, the gradient goes to the nearest entry."""

PAD = -1e9


def _index_in_frame(local, kernel, stride, padding, shape):
    rows = stride * np.arange(local.shape[2])[:, None] + local // kernel
    columns = stride * np.arange(local.shape[3]) + local % kernel
    rows = np.clip(rows, padding, padding + shape[2] - 1)
    columns = np.clip(columns, padding, padding + shape[3] - 1)
    return rows * (shape[3] + 2 * padding) + columns
