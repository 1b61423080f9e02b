"""In evaluation the running statistics follow the batch afterwards, with its biased variance."""


class BatchNorm1d(BatchNorm1d):
    def _recall(self, x):
        used = self.running_mean, self.running_var
        self._follow(*_batch_statistics(x))
        return used
