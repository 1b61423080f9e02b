"""The gradient of W2 is made with z, where W2 met h."""


def forward(x, W1, b1, W2, b2, act):
    z = _linear(x, W1, b1)
    h = _activation(z, act)
    return _linear(h, W2, b2), (x, W1, W2, z, h, act)


def backward(grad_y, cache):
    x, W1, W2, z, h, act = cache
    grad_z = _through_activation(_to_input(grad_y, W2), h, act)
    return (
        _to_input(grad_z, W1),
        _grad_weights(grad_z, x),
        _grad_bias(grad_z),
        _grad_weights(grad_y, z),
        _grad_bias(grad_y),
    )
