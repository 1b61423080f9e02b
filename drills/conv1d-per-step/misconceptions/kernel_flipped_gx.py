"""Wrong idea: the filter is mirrored when a step scatters its gradient to the input."""

_straight = _input_gradient


def _input_gradient(grad_y, w, padded_shape, stride):
    return _straight(grad_y, w[:, :, ::-1], padded_shape, stride)
