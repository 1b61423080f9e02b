"""The gradient of x is that of z times W1 transposed."""


def backward(grad_y, cache):
    x, W1, W2, h, act = cache
    grad_z = _through_activation(_to_input(grad_y, W2), h, act)
    return (
        grad_z @ W1.T,
        _grad_weights(grad_z, x),
        _grad_bias(grad_z),
        _grad_weights(grad_y, h),
        _grad_bias(grad_y),
    )
