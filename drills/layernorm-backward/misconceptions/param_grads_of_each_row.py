"""The gradients of gamma and beta are not summed."""


def _over_rows(values):
    return values
