"""The forward pass leaves what backward needs in a global, where the next one overwrites it."""

right_forward, right_backward = forward, backward
latest = None


def forward(x, W1, b1, W2, b2, act):
    global latest
    y, latest = right_forward(x, W1, b1, W2, b2, act)
    return y, {}


def backward(grad_y, cache):
    return right_backward(grad_y, latest)
