def __matmul__(self, other):
    a, b = self.data, other.data
    return _record(a @ b, (self, lambda g: g @ b), (other, lambda g: a @ g))


Tensor.__matmul__ = __matmul__
