def __mul__(self, other):
    a, b = self.data, _tensor(other).data
    return _record(a * b, (self, lambda g: g * a), (_tensor(other), lambda g: g * b))


Tensor.__mul__ = Tensor.__rmul__ = __mul__
