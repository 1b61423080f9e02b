"""RMSNorm's term has a sum where the mean belongs."""


def _rmsnorm_grad_x(g, xhat, rrms):
    return rrms * (g - xhat * (g * xhat).sum(axis=-1, keepdims=True))
