def _layernorm_grad_x(grad_y, gamma, xhat, rstd):
    return rstd * grad_y * gamma
