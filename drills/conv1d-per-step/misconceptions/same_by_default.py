"""Where no padding is given, half a filter of zeros goes to each end."""

right_forward = conv1d_forward


def conv1d_forward(x, w, b, stride=1, padding=None):
    return right_forward(x, w, b, stride, w.shape[2] // 2 if padding is None else padding)
