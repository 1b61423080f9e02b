"""The loss multiplies one-hot targets with log-probabilities: 0 times minus infinity is NaN."""


def cross_entropy(z, target):
    one_hot = np.arange(z.shape[1]) == target[:, None]
    return -(one_hot * log_softmax(z)).sum() / len(z)
