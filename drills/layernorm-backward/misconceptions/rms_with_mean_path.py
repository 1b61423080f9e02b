def _rmsnorm_grad_x(g, xhat, rrms):
    return rrms * (g - _mean(g) - xhat * _mean(g * xhat))
