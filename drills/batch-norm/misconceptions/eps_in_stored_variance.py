"""What is stored is the variance plus eps."""

_follow_of = BatchNorm1d._follow


def _follow(self, mean, var):
    _follow_of(self, mean, var + self.eps)


BatchNorm1d._follow = _follow
