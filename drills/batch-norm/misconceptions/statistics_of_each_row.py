"""Each row is normalized by its own statistics."""

_learn_of = BatchNorm1d._learn


def _learn(self, x):
    _learn_of(self, x)
    return x.mean(axis=1, keepdims=True), x.var(axis=1, keepdims=True)


BatchNorm1d._learn = _learn
