"""Of several equal maxima the first in column-major order wins: the leftmost, then the highest."""


def _pick(x, kernel, stride, padding):
    frame = _frame(x, padding)
    windows = np.lib.stride_tricks.sliding_window_view(frame, (kernel, kernel), axis=(2, 3))
    windows = windows[:, :, ::stride, ::stride]
    cells = windows.swapaxes(-1, -2).reshape(*windows.shape[:4], kernel * kernel)
    column, row = np.divmod(cells.argmax(axis=-1), kernel)
    return cells.max(axis=-1), row * kernel + column
