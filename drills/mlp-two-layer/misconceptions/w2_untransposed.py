"""The gradient of h is grad_y times W2 transposed."""


def backward(grad_y, cache):
    x, W1, W2, h, act = cache
    grad_z = _through_activation(grad_y @ W2.T, h, act)
    return (
        _to_input(grad_z, W1),
        _grad_weights(grad_z, x),
        _grad_bias(grad_z),
        _grad_weights(grad_y, h),
        _grad_bias(grad_y),
    )
