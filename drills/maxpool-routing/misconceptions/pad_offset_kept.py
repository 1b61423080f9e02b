"""The gradient is cut out of the padded plane at its corner: it is shifted by the padding."""


def _crop(frame, ctx):
    height, width = ctx.shape[2:]
    return frame[:, :, :height, :width].copy()
