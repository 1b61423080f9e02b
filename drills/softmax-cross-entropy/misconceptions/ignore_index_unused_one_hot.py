"""ignore_index is never looked at: an unknown target has no one-hot entry, and its row counts."""


def _one_hot(z, target):
    return (np.arange(z.shape[1]) == target[:, None]).astype(z.dtype)


def cross_entropy(z, target, ignore_index=-100):
    picked = np.where(_one_hot(z, target) > 0, log_softmax(z), 0)
    return -picked.sum() / np.float64(len(target))


def cross_entropy_grad(z, target, ignore_index=-100):
    return (np.exp(log_softmax(z)) - _one_hot(z, target)) / len(target)
