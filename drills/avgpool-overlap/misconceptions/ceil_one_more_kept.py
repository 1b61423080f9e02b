"""With ceil_mode there is always one window more, wherever it begins."""


def _outputs(length, kernel, stride, padding, ceil_mode):
    return (length + 2 * padding - kernel) // stride + 1 + ceil_mode
