"""Output step t of the forward pass reads the window that begins at t; backward is right."""


def conv1d_forward(x, w, b, stride=1, padding=0):
    padded = _padded(x, padding)
    steps = (padded.shape[2] - w.shape[2]) // stride + 1
    y = _correlate(padded, w, 1)[:, :, :steps] + b[:, None]
    return y, (x, w, stride, padding)
