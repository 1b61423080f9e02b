"""ignore_index is never looked at: every target is used as an index, and every row counts."""


def _counted_rows(target, ignore_index):
    return np.arange(len(target))


def cross_entropy(z, target, ignore_index=-100):
    picked = log_softmax(z)[np.arange(len(target)), target]
    return -picked.sum() / np.float64(len(target))


def cross_entropy_grad(z, target, ignore_index=-100):
    grad = np.exp(log_softmax(z))
    grad[np.arange(len(target)), target] -= 1
    return grad / len(target)
