"""The input is kept, and the winners are found again in the backward pass."""

from dataclasses import replace

right_forward, right_backward = maxpool2d_forward, maxpool2d_backward


def maxpool2d_forward(x, kernel, stride, padding=0):
    y, ctx = right_forward(x, kernel, stride, padding)
    return y, (x.copy(), replace(ctx, winner=None), kernel, stride)


def maxpool2d_backward(grad_y, ctx):
    x, ctx, kernel, stride = ctx
    return right_backward(grad_y, right_forward(x, kernel, stride, ctx.padding)[1])
