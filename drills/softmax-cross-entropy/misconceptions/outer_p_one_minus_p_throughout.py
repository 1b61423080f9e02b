"""The Jacobian is p_i (1 - p_j), and the gradient is built from it."""


def softmax_jacobian(p):
    return np.outer(p, 1 - p)


def cross_entropy_grad(z, target, ignore_index=-100):
    grad = np.zeros(z.shape, z.dtype)
    rows = _counted_rows(target, ignore_index)
    p = np.exp(log_softmax(z))
    for row in rows:
        y = np.zeros(z.shape[1], z.dtype)
        y[target[row]] = 1
        grad[row] = contract(softmax_jacobian(p[row]), dloss_dp(p[row], y))
    return grad / max(rows.size, 1)
