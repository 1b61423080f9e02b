"""Output step t of the forward pass reads the window that begins at t; backward is right."""


def conv1d_forward(x, w, b, stride=1, padding=0):
    padded = np.pad(x, ((0, 0), (0, 0), (padding, padding)))
    steps = (padded.shape[2] - w.shape[2]) // stride + 1
    windows = _windows(padded, w.shape[2], 1)[:, :, :steps]
    y = np.einsum("nctk,ock->not", windows, w, optimize=True) + b[:, None]
    return y, (padded, w, stride, padding)
