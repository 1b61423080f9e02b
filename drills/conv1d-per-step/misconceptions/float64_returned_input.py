"""Results are made by np.zeros(shape), which is float64 whatever x is: grad_x alone."""

right_backward = conv1d_backward


def conv1d_backward(grad_y, cache):
    grad_x, grad_w, grad_b = right_backward(grad_y, cache)
    grad_x = grad_x.astype(np.float64)
    return grad_x, grad_w, grad_b
