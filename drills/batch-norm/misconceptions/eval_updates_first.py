"""In evaluation the running statistics follow the batch, and are used then."""


class BatchNorm1d(BatchNorm1d):
    def _recall(self, x):
        self._follow(x.mean(axis=_axes(x)), x.var(axis=_axes(x), ddof=1))
        return self.running_mean, self.running_var
