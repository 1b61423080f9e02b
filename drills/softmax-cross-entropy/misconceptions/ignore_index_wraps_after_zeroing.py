"""Ignored rows are zeroed first, then every target is used as an index, ignore_index as well."""


def cross_entropy_grad(z, target, ignore_index=-100):
    grad = np.exp(log_softmax(z))
    grad[target == ignore_index] = 0
    grad[np.arange(len(target)), target] -= 1
    return grad / max(_counted_rows(target, ignore_index).size, 1)
