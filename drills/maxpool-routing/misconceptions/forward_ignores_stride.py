"""Both passes cut the padded plane into blocks of kernel x kernel, whatever the stride is."""

right_forward = maxpool2d_forward


def maxpool2d_forward(x, kernel, stride, padding=0):
    return right_forward(x, kernel, kernel, padding)
