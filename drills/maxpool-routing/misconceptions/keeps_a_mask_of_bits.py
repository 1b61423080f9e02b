"""For each output a mask of its window is kept, one bit per cell."""

from dataclasses import replace

right_forward, right_backward = maxpool2d_forward, maxpool2d_backward


def maxpool2d_forward(x, kernel, stride, padding=0):
    y, ctx = right_forward(x, kernel, stride, padding)
    cells = np.arange(kernel * kernel)
    return y, (np.packbits(ctx.winner[..., None] == cells, axis=-1), replace(ctx, winner=None))


def maxpool2d_backward(grad_y, ctx):
    mask, ctx = ctx
    return right_backward(grad_y, replace(ctx, winner=np.unpackbits(mask, axis=-1).argmax(axis=-1)))
