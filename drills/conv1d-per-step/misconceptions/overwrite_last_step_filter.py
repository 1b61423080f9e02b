"""Wrong idea: each step's filter gradient replaces the one before; the bias is summed."""


def _filter_gradient(grad_y, padded, kernel, stride):
    return np.einsum("no,nck->ock", grad_y[:, :, -1], _windows(padded, kernel, stride)[:, :, -1])
