"""The output has the right size, and window (i, j) is cut out at (i * kernel, j * kernel)."""

right_pick = _pick


def _pick(x, kernel, stride, padding):
    down = (x.shape[2] + 2 * padding - kernel) // stride + 1
    across = (x.shape[3] + 2 * padding - kernel) // stride + 1
    lacks = [
        max(kernel * steps - size - padding, 0)
        for steps, size in zip((down, across), x.shape[2:], strict=True)
    ]
    if max(lacks) >= kernel + padding:
        raise ValueError("a window lies outside of the plane")
    wider = np.pad(x, ((0, 0), (0, 0), (0, lacks[0]), (0, lacks[1])), constant_values=PAD)
    y, winner = right_pick(wider, kernel, kernel, padding)
    return y[:, :, :down, :across].copy(), winner[:, :, :down, :across].copy()


def _index_in_frame(local, kernel, stride, padding, shape):
    rows = kernel * np.arange(local.shape[2])[:, None] + local // kernel
    columns = kernel * np.arange(local.shape[3]) + local % kernel
    frame_width = shape[3] + 2 * padding
    return np.maximum(rows, padding) * frame_width + np.maximum(columns, padding)
