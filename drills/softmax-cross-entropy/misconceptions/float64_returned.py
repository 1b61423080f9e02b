"""The gradient is made by np.zeros(shape), which is float64 whatever z is."""

_gradient_in_dtype = cross_entropy_grad


def cross_entropy_grad(z, target):
    return _gradient_in_dtype(z, target).astype(np.float64)
