"""Each backward pass on a ctx returns the sum of all gradients so far."""

right_forward, right_backward = avgpool2d_forward, avgpool2d_backward


def avgpool2d_forward(x, *settings, **more):
    y, ctx = right_forward(x, *settings, **more)
    return y, (ctx, [0])


def avgpool2d_backward(grad_y, ctx):
    ctx, total = ctx
    total[0] = total[0] + right_backward(grad_y, ctx)
    return total[0].copy()
