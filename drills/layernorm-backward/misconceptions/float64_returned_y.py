"""Of LayerNorm's forward pass only."""

right = layernorm


def layernorm(x, gamma, beta, eps=1e-5):
    y, ctx = right(x, gamma, beta, eps)
    return y.astype(np.float64), ctx
