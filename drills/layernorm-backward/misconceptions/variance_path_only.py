def _layernorm_grad_x(grad_y, gamma, xhat, rstd):
    g = grad_y * gamma
    return rstd * (g - xhat * _mean(g * xhat))
