"""eps is added to the standard deviation."""


def _reciprocal(var, eps):
    return 1 / (np.sqrt(var) + eps)
