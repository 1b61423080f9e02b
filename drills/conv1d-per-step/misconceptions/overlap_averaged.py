"""grad_x is divided by the number of windows that cover each input."""

right_input_gradient = _input_gradient


def _input_gradient(grad_y, w, padded_shape, stride):
    grad_padded = right_input_gradient(grad_y, w, padded_shape, stride)
    covered = np.zeros(padded_shape[2], dtype=grad_y.dtype)
    for t in range(grad_y.shape[2]):
        covered[t * stride : t * stride + w.shape[2]] += 1.0
    return grad_padded / np.maximum(covered, 1.0)
