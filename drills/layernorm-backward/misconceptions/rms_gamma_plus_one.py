"""RMSNorm multiplies by 1 + gamma."""

_plain_rms = rmsnorm


def rmsnorm(x, gamma, eps=1e-5):
    return _plain_rms(x, 1 + gamma, eps)
