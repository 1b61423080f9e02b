"""The output has the right size, and window (i, j) is cut out at (i * kernel, j * kernel)."""


def _windows(x, kernel, stride, padding):
    batch, channels, height, width = x.shape
    down = (height + 2 * padding - kernel) // stride + 1
    across = (width + 2 * padding - kernel) // stride + 1
    frame = np.full((batch, channels, height + 2 * padding, width + 2 * padding), PAD, x.dtype)
    frame[:, :, padding : padding + height, padding : padding + width] = x
    windows = np.full((batch, channels, down, across, kernel, kernel), PAD, x.dtype)
    for i, j in np.ndindex(down, across):
        top, left = i * kernel, j * kernel
        part = frame[:, :, top : top + kernel, left : left + kernel]
        if not part.shape[2] * part.shape[3]:
            raise ValueError(f"window ({i}, {j}) lies outside of the plane")
        windows[:, :, i, j, : part.shape[2], : part.shape[3]] = part
    return windows.reshape(batch, channels, down, across, kernel * kernel)


def _index_in_frame(local, kernel, stride, padding, shape):
    rows = kernel * np.arange(local.shape[2])[:, None] + local // kernel
    columns = kernel * np.arange(local.shape[3]) + local % kernel
    frame_width = shape[3] + 2 * padding
    return np.maximum(rows, padding) * frame_width + np.maximum(columns, padding)
