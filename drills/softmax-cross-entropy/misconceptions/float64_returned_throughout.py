"""dL/dp, the Jacobian and the gradient are made by np.zeros(shape), which is float64."""

_gradient_in_dtype, _jacobian_in_dtype, _step_in_dtype = (
    cross_entropy_grad,
    softmax_jacobian,
    dloss_dp,
)


def dloss_dp(p, y):
    return _step_in_dtype(p, y).astype(np.float64)


def softmax_jacobian(p):
    return _jacobian_in_dtype(p).astype(np.float64)


def cross_entropy_grad(z, target):
    return _gradient_in_dtype(z, target).astype(np.float64)
