"""The largest corrected second moment so far divides, as with amsgrad=True."""


def _move(own, lr, beta1, beta2, eps):
    now = own["v"] / _correction(beta2, own["steps"])
    own["largest"] = np.maximum(own.get("largest", now), now)
    return lr / _correction(beta1, own["steps"]) * own["m"] / (np.sqrt(own["largest"]) + eps)
