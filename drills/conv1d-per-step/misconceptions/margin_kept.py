"""The gradient of the padded input is returned as it is, margins included."""


def conv1d_backward(grad_y, cache):
    padded, w, stride, _ = cache
    grad_x = _input_gradient(grad_y, w, padded.shape, stride)
    return grad_x, _filter_gradient(grad_y, padded, w.shape[2], stride), _bias_gradient(grad_y)
