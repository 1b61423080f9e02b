"""The forward pass leaves what backward needs in a global, where the next one overwrites it."""

right_forward, right_backward = layernorm, layernorm_backward
latest = None


def layernorm(x, gamma, beta, eps=1e-5):
    global latest
    y, latest = right_forward(x, gamma, beta, eps)
    return y, {}


def layernorm_backward(grad_y, ctx):
    return right_backward(grad_y, latest)
