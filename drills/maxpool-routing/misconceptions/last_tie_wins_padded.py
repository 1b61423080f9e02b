"""The last of several equal maxima gets the gradient, even where that is padding."""


def _pick(windows):
    return windows.shape[-1] - 1 - windows[..., ::-1].argmax(axis=-1)
