"""The winners of the latest forward pass are kept in a global, not in the ctx that backward is given."""

right_forward, right_backward = maxpool2d_forward, maxpool2d_backward
latest = None


def maxpool2d_forward(x, kernel, stride, padding=0):
    global latest
    y, latest = right_forward(x, kernel, stride, padding)
    return y, {}


def maxpool2d_backward(grad_y, ctx):
    return right_backward(grad_y, latest)
