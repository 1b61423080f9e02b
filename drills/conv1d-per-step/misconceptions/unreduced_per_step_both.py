"""Wrong idea: both gradients keep one slice a step, (T, Cout, Cin, K) and (T, Cout)."""


def _filter_gradient(grad_y, padded, kernel, stride):
    windows = np.lib.stride_tricks.sliding_window_view(padded, kernel, axis=2)[:, :, ::stride]
    windows = windows[:, :, : grad_y.shape[2]]
    return np.einsum("not,nctk->tock", grad_y, windows, optimize=True)


def _bias_gradient(grad_y):
    return grad_y.sum(axis=0).T.copy()
