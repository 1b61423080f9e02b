"""Wrong idea: in the filter's gradient, step t reads the window that begins at t."""


def _filter_gradient(grad_y, padded, kernel, stride):
    windows = _windows(padded, kernel, 1)[:, :, : grad_y.shape[2]]
    return np.einsum("not,nctk->ock", grad_y, windows, optimize=True)
