"""In evaluation a batch is normalized by its own statistics."""


class BatchNorm1d(BatchNorm1d):
    def _recall(self, x):
        return _batch_statistics(x)
