def _layernorm_grad_x(grad_y, gamma, xhat, rstd):
    return gamma * rstd * (grad_y - _mean(grad_y) - xhat * _mean(grad_y * xhat))
