def layernorm(x, gamma, beta, eps=1e-5):
    centered = _centered(x)
    rstd = _rstd(centered, eps)
    return centered * rstd * gamma + beta, (x, centered * rstd, rstd, gamma)


def layernorm_backward(grad_y, ctx):
    x, xhat, rstd, gamma = ctx
    grad_x = _layernorm_grad_x(grad_y, gamma, xhat, rstd)
    return grad_x, _over_rows(grad_y * x), _over_rows(grad_y)
