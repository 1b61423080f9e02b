"""The derivative p (1 - p) of one probability, extended to pairs: p_i (1 - p_j)."""


def softmax_jacobian(p):
    return np.outer(p, 1 - p)
