"""The mean loss is taken even when no row is counted: 0 / 0."""


def cross_entropy(z, target, ignore_index=-100):
    rows = _counted_rows(target, ignore_index)
    return float(-log_softmax(z)[rows, target[rows]].sum() / rows.size)
