"""Where eps is left out, it is another one."""

EPS = 1e-3


class BatchNorm1d(BatchNorm1d):
    def __init__(self, gamma, beta, eps=None, momentum=0.1):
        super().__init__(gamma, beta, EPS if eps is None else eps, momentum)
