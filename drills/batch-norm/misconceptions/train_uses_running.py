"""In training the running statistics are moved, and used to normalize."""


class BatchNorm1d(BatchNorm1d):
    def _learn(self, x):
        super()._learn(x)
        return self.running_mean, self.running_var
