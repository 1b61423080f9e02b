"""What the latest forward pass knew is kept in a global, not in the ctx that backward is given."""

right_forward, right_backward = avgpool2d_forward, avgpool2d_backward
latest = None


def avgpool2d_forward(x, *settings, **more):
    global latest
    y, latest = right_forward(x, *settings, **more)
    return y, None


def avgpool2d_backward(grad_y, ctx):
    return right_backward(grad_y, latest)
