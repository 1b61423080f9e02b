"""In evaluation the running statistics are broadcast along the last axis."""


class BatchNorm1d(BatchNorm1d):
    def forward(self, x):
        if self.training:
            return super().forward(x)
        rstd = _reciprocal(self.running_var, self.eps)
        xhat = (x - self.running_mean) * rstd
        self.kept = xhat, rstd, False
        return xhat * _wide(self.gamma, x) + _wide(self.beta, x)


def _gradient_in_evaluation(g, xhat, rstd):
    return g * rstd
