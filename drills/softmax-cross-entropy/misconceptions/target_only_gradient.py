"""Only the logit of the target is pushed; the wrong classes get no gradient."""


def cross_entropy_grad(z, target, ignore_index=-100):
    rows = _counted_rows(target, ignore_index)
    p = np.exp(log_softmax(z))
    grad = np.zeros(z.shape, z.dtype)
    grad[rows, target[rows]] = (p[rows, target[rows]] - 1) / max(rows.size, 1)
    return grad
