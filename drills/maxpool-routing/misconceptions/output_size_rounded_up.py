"""Rows and columns left over at the end get windows of their own, filled up with padding."""


def _windows(x, kernel, stride, padding):
    batch, channels, height, width = x.shape
    down = -(-(height + 2 * padding - kernel) // stride) * stride + kernel
    across = -(-(width + 2 * padding - kernel) // stride) * stride + kernel
    frame = np.full((batch, channels, down, across), PAD, x.dtype)
    frame[:, :, padding : padding + height, padding : padding + width] = x
    windows = sliding_window_view(frame, (kernel, kernel), axis=(2, 3))[:, :, ::stride, ::stride]
    return windows.reshape(*windows.shape[:4], kernel * kernel)
