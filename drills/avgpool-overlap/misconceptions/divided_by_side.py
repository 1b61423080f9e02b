"""Backward divides by the side of the window."""


def _share(grad_y, ctx):
    return grad_y / ctx.kernel
