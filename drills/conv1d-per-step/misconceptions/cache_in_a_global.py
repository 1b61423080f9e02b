"""The forward pass leaves what backward needs in a global, where the next forward overwrites it."""

right_forward, right_backward = conv1d_forward, conv1d_backward
latest = None


def conv1d_forward(x, w, b, stride=1, padding=0):
    global latest
    y, latest = right_forward(x, w, b, stride, padding)
    return y, {}


def conv1d_backward(grad_y, cache):
    return right_backward(grad_y, latest)
