"""In evaluation the running statistics are used, and follow the batch afterwards."""


class BatchNorm1d(BatchNorm1d):
    def _recall(self, x):
        used = self.running_mean, self.running_var
        self._follow(x.mean(axis=_axes(x)), x.var(axis=_axes(x), ddof=1))
        return used
