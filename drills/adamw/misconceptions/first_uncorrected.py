"""The second moment is corrected, the first is not."""


def _move(own, lr, beta1, beta2, eps):
    return lr * own["m"] / (np.sqrt(own["v"] / _correction(beta2, own["steps"])) + eps)
