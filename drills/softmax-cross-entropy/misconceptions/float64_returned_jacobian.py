"""The Jacobian is made by np.zeros(shape), which is float64 whatever p is."""

_jacobian_in_dtype = softmax_jacobian


def softmax_jacobian(p):
    return _jacobian_in_dtype(p).astype(np.float64)
