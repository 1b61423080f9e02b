"""In training the running statistics are used to normalize, and moved afterwards."""


class BatchNorm1d(BatchNorm1d):
    def _learn(self, x):
        used = self.running_mean, self.running_var
        super()._learn(x)
        return used
