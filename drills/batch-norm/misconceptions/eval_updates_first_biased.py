"""In evaluation the running statistics follow the batch, with its biased variance, and are used then."""


class BatchNorm1d(BatchNorm1d):
    def _recall(self, x):
        self._follow(*_batch_statistics(x))
        return self.running_mean, self.running_var
