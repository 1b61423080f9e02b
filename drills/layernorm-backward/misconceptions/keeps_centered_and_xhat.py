right_forward, right_backward = layernorm, layernorm_backward


def layernorm(x, gamma, beta, eps=1e-5):
    y, (xhat, rstd, gamma) = right_forward(x, gamma, beta, eps)
    return y, (_centered(x), xhat, rstd, gamma)


def layernorm_backward(grad_y, ctx):
    return right_backward(grad_y, ctx[1:])
