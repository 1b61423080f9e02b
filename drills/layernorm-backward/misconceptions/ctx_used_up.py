"""The backward pass works in the arrays of the ctx."""

right_backward = layernorm_backward


def layernorm_backward(grad_y, ctx):
    xhat, rstd, gamma = ctx
    results = right_backward(grad_y, ctx)
    g = grad_y * gamma
    xhat *= _mean(g * xhat)
    return results
