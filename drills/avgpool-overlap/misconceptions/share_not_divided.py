"""Every cell of a window gets the whole gradient."""


def _share(grad_y, ctx):
    return grad_y
