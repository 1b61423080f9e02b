"""The slope of the sigmoid is computed in place, in the h of the cache, after its last use."""


def backward(grad_y, cache):
    x, W1, W2, h, act = cache
    grad_W2 = _grad_weights(grad_y, h)
    slope = h > 0
    if act == "sigmoid":
        h *= 1 - h
        slope = h
    grad_z = _to_input(grad_y, W2) * slope
    return (
        _to_input(grad_z, W1),
        _grad_weights(grad_z, x),
        _grad_bias(grad_z),
        grad_W2,
        _grad_bias(grad_y),
    )
