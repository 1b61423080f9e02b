"""The place inside a window is kept in one byte, and one that overflows ends up in the padding."""

right_index = _index_in_frame


def _index_in_frame(local, kernel, stride, padding, shape):
    frame_width = shape[3] + 2 * padding
    tops = stride * np.arange(local.shape[2])[:, None]
    lefts = stride * np.arange(local.shape[3])
    row, column = np.divmod(right_index(local, kernel, stride, padding, shape), frame_width)
    stored = ((row - tops) * kernel + column - lefts).astype(np.uint8).astype(np.int64)
    return (tops + stored // kernel) * frame_width + lefts + stored % kernel
