"""The same forward pass, and its own derivative: LayerNorm without beta."""


def rmsnorm(x, gamma, eps=1e-5):
    centered = x - x.mean(axis=-1, keepdims=True)
    rrms = _rrms(centered, eps)
    return centered * rrms * gamma, (centered * rrms, rrms, gamma)


def _rmsnorm_grad_x(g, xhat, rrms):
    return rrms * (g - _mean(g) - xhat * _mean(g * xhat))
