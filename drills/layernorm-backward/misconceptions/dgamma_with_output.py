def layernorm(x, gamma, beta, eps=1e-5):
    centered = _centered(x)
    rstd = _rstd(centered, eps)
    xhat = centered * rstd
    return xhat * gamma + beta, (xhat, rstd, gamma, beta)


def layernorm_backward(grad_y, ctx):
    xhat, rstd, gamma, beta = ctx
    grad_x = _layernorm_grad_x(grad_y, gamma, xhat, rstd)
    return grad_x, _over_rows(grad_y * (xhat * gamma + beta)), _over_rows(grad_y)
