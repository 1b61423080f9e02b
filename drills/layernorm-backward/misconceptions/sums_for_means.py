def _layernorm_grad_x(grad_y, gamma, xhat, rstd):
    g = grad_y * gamma
    return rstd * (g - g.sum(-1, keepdims=True) - xhat * (g * xhat).sum(-1, keepdims=True))
