"""Left-over inputs get an output step of their own, and backward expects a gradient for it."""


def conv1d_forward(x, w, b, stride=1, padding=0):
    kernel = w.shape[2]
    more = -(x.shape[2] + 2 * padding - kernel) % stride
    padded = np.pad(x, ((0, 0), (0, 0), (padding, padding + more)))
    y = np.einsum("nctk,ock->not", _windows(padded, kernel, stride), w, optimize=True)
    return y + b[:, None], (padded, w, stride, padding)


def conv1d_backward(grad_y, cache):
    padded, w, stride, padding = cache
    if grad_y.shape[2] != _windows(padded, w.shape[2], stride).shape[2]:
        raise ValueError("grad_y and the windows of the forward pass differ in number")
    grad_padded = _input_gradient(grad_y, w, padded.shape, stride)
    grad_x = grad_padded[:, :, padding : padded.shape[2] - padding].copy()
    return grad_x, _filter_gradient(grad_y, padded, w.shape[2], stride), _bias_gradient(grad_y)
