"""The term through the mean has the wrong sign."""


def _layernorm_grad_x(grad_y, gamma, xhat, rstd):
    g = grad_y * gamma
    return rstd * (g + _mean(g) - xhat * _mean(g * xhat))
