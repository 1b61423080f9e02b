"""The same in RMSNorm."""


def rmsnorm(x, gamma, eps=1e-5):
    rrms = _rrms(x, eps)
    y = x * rrms * gamma
    return y, (y, rrms, gamma)


def rmsnorm_backward(grad_y, ctx):
    y, rrms, gamma = ctx
    xhat = y / gamma
    return _rmsnorm_grad_x(grad_y * gamma, xhat, rrms), _over_rows(grad_y * xhat)
