"""Results are made by np.zeros(shape), which is float64 whatever x is: y alone."""

right_forward = conv1d_forward


def conv1d_forward(x, w, b, stride=1, padding=0):
    y, cache = right_forward(x, w, b, stride, padding)
    return y.astype(np.float64), cache
