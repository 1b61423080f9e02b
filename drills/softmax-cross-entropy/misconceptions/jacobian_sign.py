"""The Jacobian with its sign turned round: p_i p_j - delta_ij p_i."""


def softmax_jacobian(p):
    return np.outer(p, p) - np.diag(p)
