"""The gradient of x is a correlation of grad_y with K - 1 - padding zeros at each end."""

right_backward = conv1d_backward


def conv1d_backward(grad_y, cache):
    x, w, stride, padding = cache
    reach = stride * (grad_y.shape[2] - 1) + 1
    spread = np.zeros((*grad_y.shape[:2], reach), dtype=grad_y.dtype)
    spread[:, :, ::stride] = grad_y
    margin = w.shape[2] - 1 - padding
    left_over = x.shape[2] + 2 * padding - w.shape[2] + 1 - reach
    wide = np.pad(spread, ((0, 0), (0, 0), (margin, margin + left_over)))
    grad_x = _correlate(wide, w[:, :, ::-1].transpose(1, 0, 2), 1)
    return grad_x, *right_backward(grad_y, cache)[1:]
