"""In evaluation eps is left out."""

_recall_of = BatchNorm1d._recall


def _recall(self, x):
    mean, var = _recall_of(self, x)
    return mean, var - self.eps


BatchNorm1d._recall = _recall
