"""Wrong idea: each step's filter gradient replaces the one before; the bias is summed."""


def _filter_gradient(grad_y, padded, kernel, stride):
    start = stride * (grad_y.shape[2] - 1)
    window = padded[:, :, start : start + kernel]
    return np.einsum("no,nck->ock", grad_y[:, :, -1], window)
