"""Wrong idea: each tap writes its positions of grad_x, so in an overlap the last tap wins."""


def _input_gradient(grad_y, w, padded_shape, stride):
    per_tap = np.einsum("not,ock->knct", grad_y, w, optimize=True)
    reach = stride * (grad_y.shape[2] - 1) + 1
    grad_padded = np.zeros(padded_shape, dtype=grad_y.dtype)
    for k, positions in enumerate(per_tap):
        grad_padded[:, :, k : k + reach : stride] = positions
    return grad_padded
