"""Every entry that equals the maximum gets the whole gradient."""

from dataclasses import replace

right_forward = maxpool2d_forward


def maxpool2d_forward(x, kernel, stride, padding=0):
    y, ctx = right_forward(x, kernel, stride, padding)
    won = _windows(x, kernel, stride, padding) == y[..., None]
    # One bit a cell, in 8 bytes or more: the state is that of the reference, only the idea differs.
    mask = np.packbits(won, axis=-1)
    mask = np.pad(mask, [(0, 0)] * 4 + [(0, max(8 - mask.shape[-1], 0))])
    return y, (replace(ctx, winner=mask), kernel, stride)


def maxpool2d_backward(grad_y, ctx):
    ctx, kernel, stride = ctx
    won = np.unpackbits(ctx.winner, axis=-1, count=kernel * kernel)
    won = won.reshape(*grad_y.shape, kernel, kernel)
    frame = _zero_frame(ctx)
    for i, j in np.ndindex(grad_y.shape[2:]):
        top, left = i * stride, j * stride
        window = frame[:, :, top : top + kernel, left : left + kernel]
        window += won[:, :, i, j] * grad_y[:, :, i, j, None, None]
    return _crop(frame, ctx)
