"""Where momentum is left out, it is another one."""

MOMENTUM = 0.9


class BatchNorm1d(BatchNorm1d):
    def __init__(self, gamma, beta, eps=1e-5, momentum="left out"):
        super().__init__(gamma, beta, eps, MOMENTUM if momentum == "left out" else momentum)
