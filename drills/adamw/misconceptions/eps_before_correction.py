"""eps is added to the root of the uncorrected second moment, and corrected with it."""


def _move(own, lr, beta1, beta2, eps):
    mean = own["m"] / _correction(beta1, own["steps"])
    return lr * mean / ((np.sqrt(own["v"]) + eps) / np.sqrt(_correction(beta2, own["steps"])))
