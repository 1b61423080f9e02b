"""The output size is rounded up after it was rounded down."""


def _outputs(length, kernel, stride, padding, ceil_mode):
    return int(np.ceil((length + 2 * padding - kernel) // stride)) + 1
