"""The input itself is kept, and the winners are found again in the backward pass."""

right_forward, right_backward = maxpool2d_forward, maxpool2d_backward


def maxpool2d_forward(x, kernel, stride, padding=0):
    return right_forward(x, kernel, stride, padding)[0], (x, kernel, stride, padding)


def maxpool2d_backward(grad_y, ctx):
    return right_backward(grad_y, right_forward(*ctx)[1])
