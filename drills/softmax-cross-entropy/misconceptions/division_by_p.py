"""The gradient is multiplied out from the three lines, dividing by a p that has rounded to 0."""


def cross_entropy_grad(z, target, ignore_index=-100):
    grad = np.zeros(z.shape, z.dtype)
    rows = _counted_rows(target, ignore_index)
    p = np.exp(log_softmax(z))
    for row in rows:
        y = np.zeros(z.shape[1], z.dtype)
        y[target[row]] = 1
        grad[row] = contract(softmax_jacobian(p[row]), dloss_dp(p[row], y))
    return grad / max(rows.size, 1)
