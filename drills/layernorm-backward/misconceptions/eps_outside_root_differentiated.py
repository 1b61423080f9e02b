"""The same forward pass, and its own derivative."""

right = layernorm


def layernorm(x, gamma, beta, eps=1e-5):
    centered = _centered(x)
    std = np.sqrt(_mean(centered * centered))
    xhat = centered / (std + eps)
    return xhat * gamma + beta, (xhat, std, gamma, eps)


def layernorm_backward(grad_y, ctx):
    xhat, std, gamma, eps = ctx
    g = grad_y * gamma
    grad_x = (g - _mean(g)) / (std + eps) - xhat * _mean(g * xhat) / std
    return grad_x, _over_rows(grad_y * xhat), _over_rows(grad_y)
