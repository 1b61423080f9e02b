"""The forward pass has an output for every position, as with a stride of 1; backward is right."""


def conv1d_forward(x, w, b, stride=1, padding=0):
    padded = np.pad(x, ((0, 0), (0, 0), (padding, padding)))
    y = np.einsum("nctk,ock->not", _windows(padded, w.shape[2], 1), w, optimize=True)
    return y + b[:, None], (padded, w, stride, padding)
