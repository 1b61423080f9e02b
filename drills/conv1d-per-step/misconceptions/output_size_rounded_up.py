"""Inputs left over at the end get an output step of their own, filled up with zeros."""


def conv1d_forward(x, w, b, stride=1, padding=0):
    kernel = w.shape[2]
    more = -(x.shape[2] + 2 * padding - kernel) % stride
    padded = np.pad(x, ((0, 0), (0, 0), (padding, padding)))
    longer = np.pad(padded, ((0, 0), (0, 0), (0, more)))
    y = np.einsum("nctk,ock->not", _windows(longer, kernel, stride), w, optimize=True)
    return y + b[:, None], (padded, w, stride, padding)
