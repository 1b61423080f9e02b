def layernorm(x, gamma, beta, eps=1e-5):
    centered = _centered(x.astype(np.float64))
    rstd = _rstd(centered, eps)
    xhat = centered * rstd
    return xhat * gamma + beta, (xhat, rstd, gamma)


def rmsnorm(x, gamma, eps=1e-5):
    wide = x.astype(np.float64)
    rrms = _rrms(wide, eps)
    return wide * rrms * gamma, (wide * rrms, rrms, gamma)
