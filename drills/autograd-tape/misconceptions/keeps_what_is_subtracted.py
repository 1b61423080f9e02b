def negate(self):
    array = self.data
    return _record(-array, (self, lambda g: -g - 0 * array))


def subtract(self, other):
    other = _tensor(other)
    a, b = self.data, other.data
    return _record(a - b, (self, lambda g: g + 0 * a), (other, lambda g: -g - 0 * b))


Tensor.__neg__, Tensor.__sub__ = negate, subtract
