"""Results are made by np.zeros(shape), which is float64 whatever x is: y and grad_x."""

right_forward, right_backward = conv1d_forward, conv1d_backward


def conv1d_forward(x, w, b, stride=1, padding=0):
    y, cache = right_forward(x, w, b, stride, padding)
    return y.astype(np.float64), cache


def conv1d_backward(grad_y, cache):
    grad_x, grad_w, grad_b = right_backward(grad_y, cache)
    return grad_x.astype(np.float64), grad_w, grad_b
