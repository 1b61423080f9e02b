"""The first moment is corrected, the second is not."""


def _move(own, lr, beta1, beta2, eps):
    return lr * (own["m"] / _correction(beta1, own["steps"])) / (np.sqrt(own["v"]) + eps)
