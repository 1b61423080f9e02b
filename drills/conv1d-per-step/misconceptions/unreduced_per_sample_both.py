"""Both gradients keep a slice a sample, (N, Cout, Cin, K) and (N, Cout)."""


def _filter_gradient(grad_y, padded, kernel, stride):
    windows = np.lib.stride_tricks.sliding_window_view(padded, kernel, axis=2)[:, :, ::stride]
    windows = windows[:, :, : grad_y.shape[2]]
    return np.einsum("not,nctk->nock", grad_y, windows, optimize=True)


def _bias_gradient(grad_y):
    return grad_y.sum(axis=2)
