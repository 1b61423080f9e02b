"""The input itself is kept beside the winners, without a copy: it stays alive all the same."""

right_forward, right_backward = maxpool2d_forward, maxpool2d_backward


def maxpool2d_forward(x, kernel, stride, padding=0):
    y, ctx = right_forward(x, kernel, stride, padding)
    return y, {"x": x, "winner": ctx}


def maxpool2d_backward(grad_y, ctx):
    return right_backward(grad_y, ctx["winner"])
