"""The filter's gradient keeps a slice a sample, (N, Cout, Cin, K)."""


def _filter_gradient(grad_y, padded, kernel, stride):
    windows = np.lib.stride_tricks.sliding_window_view(padded, kernel, axis=2)[:, :, ::stride]
    windows = windows[:, :, : grad_y.shape[2]]
    return np.einsum("not,nctk->nock", grad_y, windows, optimize=True)
