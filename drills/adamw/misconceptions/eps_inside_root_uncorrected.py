"""eps is added under the root, to the second moment before it is corrected."""


def _move(own, lr, beta1, beta2, eps):
    mean = own["m"] / _correction(beta1, own["steps"])
    return lr * mean / np.sqrt((own["v"] + eps) / _correction(beta2, own["steps"]))
