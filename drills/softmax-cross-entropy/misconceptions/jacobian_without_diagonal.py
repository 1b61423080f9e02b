"""The Jacobian is -p p^T, without diag(p)."""


def softmax_jacobian(p):
    return -np.outer(p, p)
