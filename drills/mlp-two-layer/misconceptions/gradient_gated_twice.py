"""Negative gradients are stopped besides."""

_by_slope = _through_activation


def _through_activation(grad_h, h, act):
    grad_z = _by_slope(grad_h, h, act)
    return np.maximum(grad_z, 0) if act == "relu" else grad_z
