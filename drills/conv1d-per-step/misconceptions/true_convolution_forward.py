"""The filter is mirrored in the forward pass alone: np.convolve where np.correlate belongs."""

right_forward = conv1d_forward


def conv1d_forward(x, w, b, stride=1, padding=0):
    y, _ = right_forward(x, w[:, :, ::-1], b, stride, padding)
    return y, right_forward(x, w, b, stride, padding)[1]
