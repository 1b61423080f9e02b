"""One mean and one variance are those of the whole array."""

_row_mean = _mean


def layernorm(x, gamma, beta, eps=1e-5):
    centered = x - x.mean()
    rstd = np.full_like(_row_mean(x), 1.0 / np.sqrt((centered * centered).mean() + eps))
    xhat = centered * rstd
    return xhat * gamma + beta, (xhat, rstd, gamma)
