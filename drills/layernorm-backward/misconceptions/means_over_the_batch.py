"""The terms of grad_x are means over the rows."""


def _layernorm_grad_x(grad_y, gamma, xhat, rstd):
    g = grad_y * gamma
    rows = tuple(range(g.ndim - 1))
    return rstd * (g - g.mean(axis=rows) - xhat * (g * xhat).mean(axis=rows))
