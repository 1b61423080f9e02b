"""Loss and gradient are divided by the number of counted rows even when that is 0."""


def cross_entropy(z, target, ignore_index=-100):
    rows = _counted_rows(target, ignore_index)
    return float(-log_softmax(z)[rows, target[rows]].sum() / rows.size)


def cross_entropy_grad(z, target, ignore_index=-100):
    rows = _counted_rows(target, ignore_index)
    p = np.exp(log_softmax(z))
    p[rows, target[rows]] -= 1
    p[target == ignore_index] = 0
    return p / rows.size
