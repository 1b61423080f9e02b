"""Each probability depends on its own logit only, so the Jacobian is a diagonal."""


def softmax_jacobian(p):
    return np.diag(p * (1 - p))
