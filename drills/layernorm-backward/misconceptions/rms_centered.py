def rmsnorm(x, gamma, eps=1e-5):
    centered = x - x.mean(axis=-1, keepdims=True)
    rrms = _rrms(centered, eps)
    return centered * rrms * gamma, (centered * rrms, rrms, gamma)
