"""What waits for the backward includes y."""

_without_y = kept_elements


def kept_elements(rows, width, hidden, plan):
    return _without_y(rows, width, hidden, plan) + rows * width
