"""The gradient of the padded input is returned as it is, margins included."""


def conv1d_backward(grad_y, cache):
    x, w, stride, padding = cache
    padded = _padded(x, padding)
    grad_padded = _input_gradient(grad_y, w, padded.shape, stride)
    grad_x = grad_padded
    return grad_x, _filter_gradient(grad_y, padded, w.shape[2], stride), _bias_gradient(grad_y)
