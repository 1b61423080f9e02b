"""Backward has statistics without eps."""

_with_eps = layernorm


def layernorm(x, gamma, beta, eps=1e-5):
    return _with_eps(x, gamma, beta, eps)[0], _with_eps(x, gamma, beta, 1e-30)[1]
