"""The gradient of the padded plane is returned as it is, padding included."""


def _crop(frame, ctx):
    return frame
