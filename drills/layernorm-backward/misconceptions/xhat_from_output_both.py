"""In LayerNorm and in RMSNorm."""


def layernorm(x, gamma, beta, eps=1e-5):
    centered = _centered(x)
    rstd = _rstd(centered, eps)
    y = centered * rstd * gamma + beta
    return y, (y, rstd, gamma, beta)


def layernorm_backward(grad_y, ctx):
    y, rstd, gamma, beta = ctx
    xhat = (y - beta) / gamma
    grad_x = _layernorm_grad_x(grad_y, gamma, xhat, rstd)
    return grad_x, _over_rows(grad_y * xhat), _over_rows(grad_y)


def rmsnorm(x, gamma, eps=1e-5):
    rrms = _rrms(x, eps)
    y = x * rrms * gamma
    return y, (y, rrms, gamma)


def rmsnorm_backward(grad_y, ctx):
    y, rrms, gamma = ctx
    xhat = y / gamma
    return _rmsnorm_grad_x(grad_y * gamma, xhat, rrms), _over_rows(grad_y * xhat)
