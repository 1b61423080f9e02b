def __mul__(self, other):
    factors = self.data, _tensor(other).data
    return _record(
        factors[0] * factors[1],
        (self, lambda g: g * factors[1]),
        (_tensor(other), lambda g: g * factors[0]),
    )


Tensor.__mul__ = Tensor.__rmul__ = __mul__
