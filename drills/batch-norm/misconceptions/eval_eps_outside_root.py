"""In evaluation eps is added to the standard deviation."""

_recall_of = BatchNorm1d._recall


def _recall(self, x):
    mean, var = _recall_of(self, x)
    return mean, (np.sqrt(var) + self.eps) ** 2 - self.eps


BatchNorm1d._recall = _recall
