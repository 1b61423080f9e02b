"""The loss of every row is picked by its target, ignore_index as well, and all are added up."""


def cross_entropy(z, target, ignore_index=-100):
    picked = log_softmax(z)[np.arange(len(target)), target]
    return float(-picked.sum() / max(_counted_rows(target, ignore_index).size, 1))
