"""The forward pass has an output for every position, as with a stride of 1; backward is right."""


def conv1d_forward(x, w, b, stride=1, padding=0):
    return _correlate(_padded(x, padding), w, 1) + b[:, None], (x, w, stride, padding)
