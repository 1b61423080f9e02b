"""Wrong idea: shared weights average over the T steps, for filter and bias alike."""

_summed_filter, _summed_bias = _filter_gradient, _bias_gradient


def _filter_gradient(grad_y, padded, kernel, stride):
    return _summed_filter(grad_y, padded, kernel, stride) / grad_y.shape[2]


def _bias_gradient(grad_y):
    return _summed_bias(grad_y) / grad_y.shape[2]
