"""The forward pass leaves what backward needs, and z, in a global, which the next one overwrites."""

right_backward = backward
latest = None


def forward(x, W1, b1, W2, b2, act):
    global latest
    z = _linear(x, W1, b1)
    h = _activation(z, act)
    latest = x, W1, W2, z, h, act
    return _linear(h, W2, b2), None


def backward(grad_y, cache):
    x, W1, W2, _, h, act = latest
    return right_backward(grad_y, (x, W1, W2, h, act))
