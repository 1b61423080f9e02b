"""The gradients of gamma and beta are means over the batch."""


def _parameter_gradients(grad_y, xhat):
    return (grad_y * xhat).mean(axis=_axes(grad_y)), grad_y.mean(axis=_axes(grad_y))
