"""Wrong idea: each step writes its window of grad_x, so in an overlap the last step wins."""


def _input_gradient(grad_y, w, padded_shape, stride):
    per_step = np.einsum("not,ock->tnck", grad_y, w, optimize=True)
    grad_padded = np.zeros(padded_shape, dtype=grad_y.dtype)
    for t, window in enumerate(per_step):
        grad_padded[:, :, t * stride : t * stride + w.shape[2]] = window
    return grad_padded
