"""Wrong idea: the filter's gradient keeps a slice a step, (T, Cout, Cin, K)."""


def _filter_gradient(grad_y, padded, kernel, stride):
    return np.einsum("not,nctk->tock", grad_y, _windows(padded, kernel, stride), optimize=True)
