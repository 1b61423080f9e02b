"""Forward and backward both take the window of output step t to begin at t."""

right_backward = conv1d_backward


def conv1d_forward(x, w, b, stride=1, padding=0):
    padded = np.pad(x, ((0, 0), (0, 0), (padding, padding)))
    steps = (padded.shape[2] - w.shape[2]) // stride + 1
    windows = _windows(padded, w.shape[2], 1)[:, :, :steps]
    y = np.einsum("nctk,ock->not", windows, w, optimize=True) + b[:, None]
    return y, (padded, w, 1, padding)


def _filter_gradient(grad_y, padded, kernel, stride):
    windows = _windows(padded, kernel, stride)[:, :, : grad_y.shape[2]]
    return np.einsum("not,nctk->ock", grad_y, windows, optimize=True)
