"""A single value per feature is refused after the running mean has moved."""


class BatchNorm1d(BatchNorm1d):
    def _learn(self, x):
        if _count(x) == 1:
            share = _share(self.momentum, self.batches + 1)
            self.running_mean = _fade(self.running_mean, x.mean(axis=_axes(x)), share)
        return super()._learn(x)
