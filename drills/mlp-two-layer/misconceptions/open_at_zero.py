"""The gradient passes where z is exactly 0."""

right_backward = backward


def forward(x, W1, b1, W2, b2, act):
    z = _linear(x, W1, b1)
    h = _activation(z, act)
    return _linear(h, W2, b2), (x, W1, W2, h, act, z)


def backward(grad_y, cache):
    *cache, z = cache
    if cache[-1] != "relu":
        return right_backward(grad_y, cache)
    x, W1, W2, h, act = cache
    grad_z = _to_input(grad_y, W2) * (z >= 0)
    return (
        _to_input(grad_z, W1),
        _grad_weights(grad_z, x),
        _grad_bias(grad_z),
        _grad_weights(grad_y, h),
        _grad_bias(grad_y),
    )
