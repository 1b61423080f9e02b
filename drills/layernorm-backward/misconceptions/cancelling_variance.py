def layernorm(x, gamma, beta, eps=1e-5):
    mean = _mean(x)
    rstd = 1.0 / np.sqrt(_mean(x * x) - mean * mean + eps)
    xhat = (x - mean) * rstd
    return xhat * gamma + beta, (xhat, rstd, gamma)
