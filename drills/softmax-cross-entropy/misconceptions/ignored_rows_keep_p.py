"""An ignored row has no one-hot target to subtract, so its gradient stays p."""


def cross_entropy_grad(z, target, ignore_index=-100):
    rows = _counted_rows(target, ignore_index)
    grad = np.exp(log_softmax(z))
    grad[rows, target[rows]] -= 1
    return grad / max(rows.size, 1)
