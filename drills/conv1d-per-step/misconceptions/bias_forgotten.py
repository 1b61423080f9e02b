"""y is the cross-correlation without the bias."""

right_forward = conv1d_forward


def conv1d_forward(x, w, b, stride=1, padding=0):
    return right_forward(x, w, np.zeros_like(b), stride, padding)
