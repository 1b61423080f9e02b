"""beta is not added."""

_with_beta = layernorm


def layernorm(x, gamma, beta, eps=1e-5):
    return _with_beta(x, gamma, np.zeros_like(beta), eps)
