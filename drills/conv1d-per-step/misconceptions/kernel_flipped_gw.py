"""Wrong idea: the filter's gradient is mirrored, as in a textbook convolution."""

_straight = _filter_gradient


def _filter_gradient(grad_y, padded, kernel, stride):
    return _straight(grad_y, padded, kernel, stride)[:, :, ::-1].copy()
