"""eps is the least that divides."""


def _move(own, lr, beta1, beta2, eps):
    root = np.maximum(np.sqrt(own["v"] / _correction(beta2, own["steps"])), eps)
    return lr / _correction(beta1, own["steps"]) * own["m"] / root
