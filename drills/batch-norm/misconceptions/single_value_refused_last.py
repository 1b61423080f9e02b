"""A single value per feature is refused after both running statistics have moved."""


class BatchNorm1d(BatchNorm1d):
    def _learn(self, x):
        if _count(x) == 1:
            self._follow(*_batch_statistics(x))
        return super()._learn(x)
