"""In a window of minus infinity the padding counts as the first maximum, and takes the gradient."""


def _index_in_frame(local, kernel, stride, padding, shape):
    rows = stride * np.arange(local.shape[2])[:, None] + local // kernel
    columns = stride * np.arange(local.shape[3]) + local % kernel
    return rows * (shape[3] + 2 * padding) + columns
