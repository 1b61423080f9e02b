"""grad_y is divided in place."""


def _share(grad_y, ctx):
    grad_y /= ctx.divisor
    return grad_y
