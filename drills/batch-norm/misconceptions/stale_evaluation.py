"""The statistics of the first evaluation are kept for all later ones."""


class BatchNorm1d(BatchNorm1d):
    def _recall(self, x):
        if not hasattr(self, "first"):
            self.first = self.running_mean, self.running_var
        return self.first
