"""Every window is kept by itself, as a row of a matrix per sample."""

right_forward = conv1d_forward


def conv1d_forward(x, w, b, stride=1, padding=0):
    y, cache = right_forward(x, w, b, stride, padding)
    windows = np.lib.stride_tricks.sliding_window_view(_padded(x, padding), w.shape[2], axis=2)
    return y, (np.ascontiguousarray(windows[:, :, ::stride].swapaxes(1, 2)), cache[1:], x.shape)


def conv1d_backward(grad_y, cache):
    windows, (w, stride, padding), shape = cache
    grad_w = np.einsum("not,ntck->ock", grad_y, windows, optimize=True)
    padded = (*shape[:2], shape[2] + 2 * padding)
    grad_x = _input_gradient(grad_y, w, padded, stride)[:, :, padding : padding + shape[2]].copy()
    return grad_x, grad_w, _bias_gradient(grad_y)
