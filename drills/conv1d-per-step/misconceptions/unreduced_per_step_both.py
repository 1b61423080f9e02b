"""Wrong idea: both gradients keep one slice a step, (T, Cout, Cin, K) and (T, Cout)."""


def _filter_gradient(grad_y, padded, kernel, stride):
    return np.einsum("not,nctk->tock", grad_y, _windows(padded, kernel, stride), optimize=True)


def _bias_gradient(grad_y):
    return grad_y.sum(axis=0).T.copy()
