"""The derivative p (1 - p) of one probability, extended to pairs: p_j (1 - p_i)."""


def softmax_jacobian(p):
    return np.outer(1 - p, p)
