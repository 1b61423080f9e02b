"""The first moment is divided by the second, not by its root."""


def _move(own, lr, beta1, beta2, eps):
    mean = own["m"] / _correction(beta1, own["steps"])
    return lr * mean / (own["v"] / _correction(beta2, own["steps"]) + eps)
